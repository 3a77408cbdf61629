package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/erasure"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/order"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/console"
	"github.com/lineproof/lineproof/internal/portal/desk"
	"github.com/lineproof/lineproof/internal/portal/files"
	"github.com/lineproof/lineproof/internal/portal/linedesk"
	"github.com/lineproof/lineproof/internal/portal/org"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/telco"
	"github.com/lineproof/lineproof/internal/publiclog"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/seal"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/watchlist"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/webhook"
	"github.com/lineproof/lineproof/internal/whoasked"
)

// portalHandler assembles the portal over the services that the API uses.
// APIHandler is the API itself, to which "Try it" sends requests; logPolicy is for
// receipts. Archives has the old records.
func portalHandler(pool *pgxpool.Pool, api *httpapi.API, apiHandler http.Handler, counts *tally.Tally, simulator *sandbox.Simulator, webhooks *webhook.Service, archives blob.Store, logPolicy string) http.Handler {
	shell := &portal.Portal{
		Pool: pool, Access: api.Access, Registry: api.Registry, People: api.People, Log: api.Log, Metrics: api.Metrics,
		Limiter: api.Limits.By, Address: api.Limits.Address, Session: api.Limits.Session, Files: api.Limits.Files, InProgress: api.Limits.InProgress, Concurrent: api.Limits.Concurrent.Session, RegulatorCode: api.RegulatorCode, PublicURL: api.PublicURL, Proxies: api.Proxies, Now: time.Now,
	}
	supplied := *api.Lines // people do not wait for suppliers
	supplied.Pool = pool
	lines := present.Supply{Portal: shell, Lines: &supplied}
	approvals := &approval.Service{Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: Effects(api.People, &supplied), Now: time.Now, NotifyStaff: api.People.NotifyOfBreakGlass}
	organisations := &org.Pages{Portal: shell, Documents: api.Documents, Tally: counts, Record: api.Record, Region: api.Region, API: apiHandler, Simulator: simulator, Webhooks: webhooks, Receipts: api.Receipts, LogPolicy: logPolicy}
	shell.Banner = organisations.Banner
	staff := &desk.Pages{
		Supply: lines, Documents: api.Documents, Approvals: approvals,
		Tally: counts, Record: api.Record,
	}
	if api.Receipts != nil {
		staff.Checkpoint = func(ctx context.Context) (time.Time, error) { return publiclog.PublishedAt(ctx, pool) }
	}
	shell.Waiting = staff.WaitingFor
	shell.Pages = slices.Concat(
		organisations.Routes(),
		(&console.Pages{Supply: lines, Peppers: api.People.Peppers, Region: api.Region, Documents: api.Documents, Tally: counts, Webhooks: webhooks}).Routes(),
		(&files.Pages{Portal: shell, Jobs: api.Bank.Jobs, MaxBytes: api.ImportMaxBytes}).Routes(),
		(&telco.Pages{Supply: lines, ImportMaxBytes: api.ImportMaxBytes, Receipts: api.Receipts}).Routes(),
		staff.Routes(),
		(&linedesk.Pages{Supply: lines, Approvals: approvals, WhoAsked: &whoasked.Service{Pool: pool, Files: archives, Registry: api.Registry, Now: time.Now}, Region: api.Region}).Routes(),
	)
	return shell.Handler()
}

// Effects returns what the approvals of every kind do when a second person confirms them.
func Effects(p *people.People, lines *supply.Service) map[approval.Kind]approval.Effect {
	all := p.Registry.Effects()
	for _, some := range []map[approval.Kind]approval.Effect{
		p.Effects(), access.Effects(), p.Access.EntityLimits().Effects(), guard.Effects(), watchlist.Effects(), erasure.Effects(), whoasked.Effects(), seal.Effects(), (&order.Service{Supply: lines}).Effects(),
		(&numbering.Service{Pool: p.Pool, Now: p.Now}).Effects(), (&policy.Service{Pool: p.Pool, Now: p.Now}).Effects(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// besideAPI serves the portal and the API from one address. Whoever opens the root is
// redirected: a browser to the portal, a program to the reference of the API.
func besideAPI(api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path+"/" == portal.Path || strings.HasPrefix(r.URL.Path, portal.Path):
			pages.ServeHTTP(w, r)
		case r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			redirectFromRoot(w, r, portal.Path)
		case r.URL.Path == "/" && r.Method == http.MethodGet:
			redirectFromRoot(w, r, "/docs")
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// redirectFromRoot has the headers that every response has: an id, and those of pages.
func redirectFromRoot(w http.ResponseWriter, r *http.Request, to string) {
	h := w.Header()
	h.Set("X-Request-Id", uuid.Must(uuid.NewV7()).String())
	web.SetPageHeaders(h)
	http.Redirect(w, r, to, http.StatusSeeOther)
}
