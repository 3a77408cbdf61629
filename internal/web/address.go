package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddr returns the client's address, or the zero address if it is not
// known. X-Forwarded-For is trusted only from a listed proxy, and only its last
// entry that is not a listed proxy itself: everything before it can be forged.
func ClientAddr(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	isProxy := func(addr netip.Addr) bool {
		return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	addr := peer.Addr().Unmap()
	if !isProxy(addr) {
		return addr
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !isProxy(addr) {
			break
		}
	}
	return addr
}
