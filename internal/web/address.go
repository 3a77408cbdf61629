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
	addr := peer.Addr().Unmap()
	if !isProxy(addr, proxies) {
		return addr
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !isProxy(addr, proxies) {
			break
		}
	}
	return addr
}

func isProxy(addr netip.Addr, proxies []netip.Prefix) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// strictTransport lets browsers use nothing but HTTPS for a year, for this host or also for all below it.
var strictTransport = map[bool][]string{false: {"max-age=31536000"}, true: {"max-age=31536000; includeSubDomains"}}

// StrictTransport adds the header Strict-Transport-Security (HSTS) to every response
// of h that is sent over TLS, by this service or by a listed proxy in front of it that
// says so.
func StrictTransport(h http.Handler, proxies []netip.Prefix, subdomains bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil || isForwardedTLS(r, proxies) {
			w.Header()["Strict-Transport-Security"] = strictTransport[subdomains]
		}
		h.ServeHTTP(w, r)
	})
}

// isForwardedTLS reports whether a listed proxy received the request over TLS.
func isForwardedTLS(r *http.Request, proxies []netip.Prefix) bool {
	if !strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && isProxy(peer.Addr().Unmap(), proxies)
}
