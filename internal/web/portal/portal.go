package portal

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Portal is the shell of the pages: routing, sign-in, rights, layout, errors and
// the request log. All fields but those of the limits, Proxies and PublicURL are
// required.
type Portal struct {
	Pool     *pgxpool.Pool
	Access   *access.Service
	Registry *registry.Registry
	People   *people.People
	Log      *slog.Logger
	Metrics  *telemetry.Metrics

	// Pages are the routes of the packages below this one. They are set before
	// Handler is called; the sign-in and security pages are the shell's own.
	Pages []Route

	Limiter limit.Limiter // of requests; nil for no limit
	Address limit.Rate    // without a session, by network
	Session limit.Rate    // of a session
	Files   limit.Rate    // for assets, by network
	// InProgress counts the requests in progress of each session, Concurrent is how many
	// there may be; 0 means any number.
	InProgress *limit.InProgress
	Concurrent int

	// Banner returns what all pages of a visitor show first, such as that the
	// organisation is stopped; nil for nothing. A nil Banner shows none.
	Banner func(context.Context, *Visit) (*kit.Banner, error)

	// Waiting returns how many things wait for a visitor behind entries of the menu, by
	// path. A nil Waiting counts nothing.
	Waiting func(context.Context, *Visit) (map[string]int, error)

	exports exportTurn

	RegulatorCode string
	PublicURL     string         // the public address of the service, without a slash at its end; "" if unknown
	Proxies       []netip.Prefix // whose X-Forwarded-For is trusted
	Now           func() time.Time
}

// Path is the address below which all pages are.
const Path = "/portal/"

// home is the page after sign-in.
const home = Path

// Route is one row of the route table.
type Route struct {
	Method, Path string
	Right        Right         // who may open it
	Action       stepup.Action // what it changes, if it does; the table there says whether it asks for the password again
	Limited      bool          // open to an account that has yet to set up two-factor authentication
	Upload       bool          // sends or receives a file, and has the time for it
	Form         string        // of an upload that asks for the password again: the page with its form
	Export       bool          // sends a file of any length, page by page, with [Portal.ReadExported]
	Serve        func(http.ResponseWriter, *http.Request) error
}

// LookUp returns by whom, why and within which budget a visitor looks a number or records
// up, which is recorded before anything is shown.
func (p *Portal) LookUp(r *http.Request, reason string) staffaccess.Access {
	v := VisitOf(r)
	return staffaccess.Access{Budget: p.People.Lookups(), By: v.Who.Actor(), Reason: reason, Request: v.ID}
}

// name is the route's name in the log and in metrics.
func (rt Route) name() string { return rt.Method + " " + rt.Path }

// RouteTable returns every route, also those of Pages.
func (p *Portal) RouteTable() []Route {
	return slices.Concat(p.accountRoutes(), p.messageRoutes(), p.Pages)
}

// ErrNotFound answers a request for something that does not exist or that the
// visitor may not see; the two must not be distinguishable.
var ErrNotFound = fault.New(fault.NotFound, "This page does not exist, or you may not see it.")

var (
	errMethodNotAllowed = fault.New(fault.MethodNotAllowed, "This page cannot be used in this way.")
	errCrossOrigin      = fault.New(fault.PermissionDenied, "This request came from another site and was not carried out. Go back and try again from the portal itself.")
)

const assetRoute = http.MethodGet + " " + kit.AssetPath

// Handler returns the portal as one handler, for Path and everything below it.
func (p *Portal) Handler() http.Handler {
	mux := &web.Mux{NotAllowed: func(w http.ResponseWriter, r *http.Request) { p.showError(w, r, errMethodNotAllowed) }}
	p.Metrics.RegisterRoute(assetRoute)
	for _, rt := range p.RouteTable() {
		p.Metrics.RegisterRoute(rt.name())
		pattern := rt.Path
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		mux.Route(rt.Method, pattern, p.authorize(rt))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { p.showError(w, r, ErrNotFound) })
	return p.withRequestLog(p.sameOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, kit.AssetPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			VisitOf(r).SetRoute(assetRoute)
			switch {
			case p.Limiter != nil && !p.Limiter.Take(r.Context(), limit.FilesFrom(VisitOf(r).From), p.Files, 1).OK:
				p.showError(w, r, errAddressLimit)
			case !kit.ServeAsset(w, r):
				p.showError(w, r, ErrNotFound)
			}
		case r.URL.Path+"/" == Path:
			http.Redirect(w, r, Path, http.StatusSeeOther)
		case path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/"): // the mux would redirect, and repeat what was sent
			p.showError(w, r, ErrNotFound)
		default:
			mux.ServeHTTP(w, r)
		}
	})))
}

// sameOrigin refuses requests that another site has made the browser send.
func (p *Portal) sameOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if u, err := url.Parse(p.PublicURL); err == nil && u.Host != "" {
		if err := cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // the settings have checked the address
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.showError(w, r, errCrossOrigin) }))
	return cross.Handler(next)
}

// BaseURL returns the address at which programs reach the service: the one in the
// settings, or else the one that the visitor used.
func (p *Portal) BaseURL(r *http.Request) string {
	if p.PublicURL != "" {
		return p.PublicURL
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if ip := net.ParseIP(host); r.TLS == nil && (host == "localhost" || (ip != nil && ip.IsLoopback())) {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}
