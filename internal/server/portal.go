package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/httpapi"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/files"
	"github.com/lineproof/lineproof/internal/web/portal/home"
	"github.com/lineproof/lineproof/internal/web/portal/keys"
	"github.com/lineproof/lineproof/internal/web/portal/numbers"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
	"github.com/lineproof/lineproof/internal/web/portal/organisations"
	"github.com/lineproof/lineproof/internal/web/portal/records"
	"github.com/lineproof/lineproof/internal/web/portal/requests"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
	"github.com/lineproof/lineproof/internal/web/portal/team"
	"github.com/lineproof/lineproof/internal/web/portal/webhooks"
)

// portal assembles the portal over the services that the API uses. "Try it" sends requests to
// the handler of the API.
func (s *service) portal(api *httpapi.API, apiHandler http.Handler) http.Handler {
	pool, limits := s.lanes.people, &api.Limits
	shell := &portal.Portal{
		Pool: pool, Access: s.access, Registry: s.entities, People: s.people, Log: s.log, Metrics: s.metrics, Now: time.Now,
		Limiter: limits.By, Address: limits.Address, Session: limits.Session, Files: limits.Files, InProgress: limits.InProgress, Concurrent: limits.Concurrent.Session,
		RegulatorCode: s.cfg.RegulatorCode, PublicURL: s.cfg.PublicURL, Proxies: s.cfg.TrustedProxies,
	}
	lines := operators.Supply{Portal: shell, Lines: s.supply(pool)}
	deciding := &approval.Service{
		Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: Effects(s.people, lines.Lines),
		Now: time.Now, NotifyStaff: s.people.NotifyOfBreakGlass,
	}
	all := &organisations.Pages{Portal: shell, Documents: s.documents, Approvals: deciding, Tally: s.tallies}
	shell.Banner = all.Banner
	staff := &home.Pages{Supply: lines, Documents: s.documents, Approvals: deciding, Tally: s.tallies}
	if api.Receipts != nil {
		staff.Checkpoint = func(ctx context.Context) (time.Time, error) { return publiclog.PublishedAt(ctx, pool) }
	}
	shell.Waiting = staff.WaitingFor
	shell.Pages = slices.Concat(
		all.Routes(),
		(&records.Pages{
			Portal: shell, Tally: s.tallies, Record: api.Record, Region: s.region, Simulator: s.simulator, Receipts: api.Receipts, LogPolicy: s.public.policy,
		}).Routes(),
		(&team.Pages{Portal: shell, Approvals: deciding}).Routes(),
		(&approvals.Pages{Portal: shell, Lines: lines.Lines, Approvals: deciding}).Routes(),
		(&rules.Pages{Portal: shell, Approvals: deciding}).Routes(),
		(&keys.Pages{Portal: shell, Region: s.region, API: apiHandler, Simulator: s.simulator}).Routes(),
		(&documents.Pages{Portal: shell, Documents: s.documents, Approvals: deciding}).Routes(),
		(&webhooks.Pages{Portal: shell, Webhooks: s.webhooks}).Routes(),
		(&requests.Pages{Supply: lines, Peppers: s.peppers, Region: s.region, Documents: s.documents, Tally: s.tallies, Webhooks: s.webhooks}).Routes(),
		(&files.Pages{Portal: shell, Jobs: s.fileJobs.api}).Routes(),
		(&operators.Pages{Supply: lines, ImportMaxBytes: s.cfg.ImportMaxBytes, Receipts: api.Receipts}).Routes(),
		(&operators.StaffPages{Supply: lines}).Routes(),
		staff.Routes(),
		(&numbers.Pages{
			Supply: lines, Approvals: deciding, WhoAsked: &whoasked.Service{Pool: pool, Files: s.stores.Journal, Registry: s.entities, Now: time.Now}, Region: s.region,
		}).Routes(),
	)
	return shell.Handler()
}

// Effects returns what the approvals of every kind do when a second person confirms them.
func Effects(p *people.People, lines *supply.Service) map[approval.Kind]approval.Effect {
	all := p.Registry.Effects()
	for _, some := range []map[approval.Kind]approval.Effect{
		p.Effects(), access.Effects(), p.Access.EntityLimits().Effects(), guard.Effects(), watchlist.Effects(), filejob.Effects(), erasure.Effects(), whoasked.Effects(), document.Effects(), staffaccess.Effects(), outbox.SealEffects(), (&order.Service{Supply: lines}).Effects(),
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
