package portal

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/limit"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// Portal serves the pages. All fields but Limiter, Address, Proxies and
// PublicURL are required.
type Portal struct {
	Pool      *pgxpool.Pool // for what is read without a package of its own: the audit trail, guard's alerts
	Keeper    *access.Keeper
	Registry  *registry.Registry
	People    *people.People
	Documents *document.Store
	Lines     *supply.Desk
	Approvals *approval.Desk
	Guard     *guard.Guard
	Tally     *tally.Tally
	Record    func(context.Context, uuid.UUID) (journal.Entry, error) // finds a record, wherever it is kept
	Region    *phone.Region
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	API       http.Handler     // the service's own API, to which "Try it" sends what is tried
	Stage     *rehearsal.Stage // the test numbers; nil for none

	Limiter limit.Limiter // of requests without a session, by network; nil limits nobody
	Address limit.Rate

	RegulatorCode  string
	PublicURL      string         // under which the service is known, without a slash at its end; "" where nobody said
	ImportMaxBytes int64          // of a file of lines, as it is sent
	Proxies        []netip.Prefix // whose X-Forwarded-For is believed
	Now            func() time.Time
}

// Path is where the portal begins.
const Path = "/portal/"

// home is where somebody comes to who has just signed in.
const home = Path

// route is one row of the route table.
type route struct {
	method, path string
	who          right
	limited      bool // open to somebody who has to set up a second factor first
	upload       bool // takes a file, and the time that it needs
	serve        func(http.ResponseWriter, *http.Request) error
}

// name is what log and metrics call the route.
func (rt route) name() string { return rt.method + " " + rt.path }

// routes is the whole surface of the portal.
func (p *Portal) routes() []route {
	return slices.Concat(p.peopleRoutes(), p.organisationRoutes(), p.operatorRoutes(), p.deskRoutes())
}

var (
	errNoPage = fault.New(fault.NotFound, "There is no such page, or it is not yours to see.")
	errMethod = fault.New(fault.MethodNotAllowed, "This page cannot be used in this way.")
	errOrigin = fault.New(fault.PermissionDenied, "This request came from another site and was not carried out. Go back and try again from the portal itself.")
)

// Handler returns the portal as one handler, for Path and everything below it.
func (p *Portal) Handler() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, rt := range p.routes() {
		pattern := rt.path
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		mux.Handle(rt.method+" "+pattern, p.door(rt))
		methods[pattern] = append(methods[pattern], rt.method)
	}
	for pattern, allowed := range methods {
		slices.Sort(allowed)
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			p.fail(w, r, errMethod)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { p.fail(w, r, errNoPage) })
	return p.observe(p.sameOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, view.AssetPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			note(r, "GET "+view.AssetPath)
			if !view.ServeAsset(w, r) {
				p.fail(w, r, errNoPage)
			}
		case r.URL.Path+"/" == Path:
			http.Redirect(w, r, Path, http.StatusSeeOther)
		case path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/"): // no redirect that repeats what was sent
			p.fail(w, r, errNoPage)
		default:
			mux.ServeHTTP(w, r)
		}
	})))
}

// sameOrigin refuses what another site has the browser send.
func (p *Portal) sameOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if u, err := url.Parse(p.PublicURL); err == nil && u.Host != "" {
		if err := cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // an address that the settings have checked
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.fail(w, r, errOrigin) }))
	return cross.Handler(next)
}
