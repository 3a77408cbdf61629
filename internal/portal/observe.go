package portal

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// policy lets a page load what this service serves, and nothing that stands in
// the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// protect sets what every answer carries.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// observe gives the request its id, writes its line, counts it, and turns a
// panic into an internal error.
func (p *Portal) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		v := &visit{id: uuid.Must(uuid.NewV7()), from: p.from(r), route: "none"}
		r = withVisit(r, v)
		sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		protect(sw.Header())
		sw.Header().Set("X-Request-Id", v.id.String())
		p.Metrics.RequestBegan()
		defer func() {
			if cause := recover(); cause != nil {
				p.Metrics.Panicked()
				add(r, slog.String("stack", string(debug.Stack())))
				if err := fmt.Errorf("panic: %v", cause); sw.wrote {
					add(r, slog.String("error", err.Error()))
				} else {
					p.fail(sw, r, err)
				}
			}
			took := time.Since(start)
			p.Metrics.RequestEnded(v.route, sw.status, took)
			p.logLine(r, sw.status, took)
		}()
		next.ServeHTTP(sw, r)
	})
}

func (p *Portal) logLine(r *http.Request, status int, took time.Duration) {
	v, level := visitOf(r), slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	remote := ""
	if v.from.IsValid() {
		remote = v.from.String()
	}
	p.Log.LogAttrs(r.Context(), level, "request", append([]slog.Attr{
		slog.String("request_id", v.id.String()), slog.String("route", v.route), slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000), slog.String("remote", remote),
	}, v.attrs...)...)
}

// from returns the caller's address. X-Forwarded-For is believed only from a
// listed proxy, and only its last entry that is not one of them.
func (p *Portal) from(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	if !p.isProxy(addr) {
		return addr
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !p.isProxy(addr) {
			break
		}
	}
	return addr
}

func (p *Portal) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Proxies, func(known netip.Prefix) bool { return known.Contains(addr) })
}

type statusWriter struct {
	http.ResponseWriter

	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer beneath.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
