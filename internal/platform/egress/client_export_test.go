package egress

import "net/netip"

// Permit lets the tests take a network of this machine for a public one, at one more
// port: a test has no public address.
func (c *Client) Permit(p netip.Prefix, port string) {
	c.asPublic, c.ports = append(c.asPublic, p), append(c.ports, port)
}

// Public reports whether an address counts as public.
func Public(a netip.Addr) bool { return isPublic(a.Unmap()) }
