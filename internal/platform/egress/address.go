package egress

import (
	"net/netip"
	"slices"
	"strconv"
)

// notPublic are the networks of IPv4 that are not, or not only, on the public internet:
// IANA's registry of special-purpose addresses (as of 2025), and multicast.
var notPublic = prefixes(
	"0.0.0.0/8",          // this network
	"10.0.0.0/8",         // private
	"100.64.0.0/10",      // shared by the customers of a carrier
	"127.0.0.0/8",        // this machine
	"168.63.129.16/32",   // a public address at which Azure serves each machine's own data
	"169.254.0.0/16",     // link-local; cloud providers serve a machine's credentials here
	"172.16.0.0/12",      // private
	"192.0.0.0/24",       // protocol assignments
	"192.0.2.0/24",       // documentation
	"192.31.196.0/24",    // AS112
	"192.52.193.0/24",    // AMT
	"192.88.99.0/24",     // relays of 6to4
	"192.168.0.0/16",     // private
	"192.175.48.0/24",    // AS112
	"198.18.0.0/15",      // benchmarks
	"198.51.100.0/24",    // documentation
	"203.0.113.0/24",     // documentation
	"224.0.0.0/4",        // multicast
	"240.0.0.0/4",        // reserved, and broadcast
	"255.255.255.255/32", // broadcast
)

// Of IPv6 only what is allocated for global unicast is public, and of that not what
// carries an address of IPv4 or has a special purpose.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	notPublic6    = prefixes(
		"2001::/23",         // protocol assignments: Teredo, benchmarks, ORCHID
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4: carries an address of IPv4
		"2620:4f:8000::/48", // AS112
		"3ffe::/16",         // the former 6bone
		"3fff::/20",         // documentation
	)
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// checkPublic permits a connection to an address on the public internet.
func (c *Client) checkPublic(to netip.AddrPort) error {
	if !slices.Contains(c.ports, strconv.Itoa(int(to.Port()))) {
		return ErrBlocked
	}
	address := to.Addr().Unmap()
	within := func(p netip.Prefix) bool { return p.Contains(address) }
	switch {
	case slices.ContainsFunc(c.asPublic, within):
		return nil
	case !isPublic(address), slices.ContainsFunc(c.blocked, within):
		return ErrBlocked
	}
	return nil
}

// isPublic reports whether an address, in which IPv4 is not mapped into IPv6, is on the
// public internet.
func isPublic(address netip.Addr) bool {
	if !address.IsValid() || address.Zone() != "" {
		return false
	}
	within := func(p netip.Prefix) bool { return p.Contains(address) }
	if address.Is4() {
		return !slices.ContainsFunc(notPublic, within)
	}
	return globalUnicast.Contains(address) && !slices.ContainsFunc(notPublic6, within)
}

// checkLoopback permits a connection to this machine.
func checkLoopback(to netip.AddrPort) error {
	if !to.Addr().Unmap().IsLoopback() {
		return ErrBlocked
	}
	return nil
}
