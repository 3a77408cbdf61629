package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/web/apidocs"
	"github.com/lineproof/lineproof/internal/web/guide"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// openWeb opens the API and, beside it, the portal.
func (s *service) openWeb(context.Context) error {
	cfg := &s.cfg
	api := &httpapi.API{
		Access: s.access, Registry: s.entities, People: s.people, Documents: s.documents, Verifier: s.verifier, Lines: s.supply(s.lanes.supply),
		Guard: s.guard, Answers: s.responses, Refused: s.refused.Add, Ended: s.countEnd, Limits: s.callerLimits(), Region: s.region,
		Log: s.log, Metrics: s.metrics, Docs: documentation(cfg), LogFiles: s.public.files, Receipts: s.public.receipts(s.lanes.people, s.stores),
		Record: func(ctx context.Context, id uuid.UUID) (record.Entry, error) {
			return journal.Find(ctx, s.lanes.people, s.stores.Journal, id)
		},
		Bank: &httpapi.Bank{
			Lists: s.lists, Feed: s.feed, Webhooks: s.webhooks, Jobs: s.fileJobs.api, Notices: &impact.Notices{Pool: s.lanes.people, Now: time.Now},
			Sandbox: &sandbox.Service{Pool: s.lanes.people, Simulator: s.simulator, Now: time.Now},
			Tests:   &distribute.Tests{Simulator: s.simulator, Lines: s.lines}, Region: s.region,
			ListMaxRows: cfg.WatchListMaxRows, ListMaxBytes: cfg.WatchListMaxBytes, Closing: s.closing,
		},
		RegulatorCode: cfg.RegulatorCode, PublicURL: cfg.PublicURL, ImportMaxBytes: cfg.ImportMaxBytes, Proxies: cfg.TrustedProxies, Traced: cfg.TracesEndpoint != "",
		Timeouts: httpapi.Timeouts{Upload: cfg.UploadTimeout, Import: cfg.ImportTimeout, Request: cfg.RequestTimeout},
	}
	s.handler = api.Handler()
	if cfg.Portal {
		s.handler = besideAPI(s.handler, s.portal(api, s.handler))
	}
	return nil
}

// documentation serves the API reference and the guide.
func documentation(cfg *config.Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", apidocs.Handler())
	pages := guide.Handler(guide.Options{Portal: cfg.Portal, PublicURL: cfg.PublicURL})
	mux.Handle(strings.TrimSuffix(guide.Root, "/"), pages)
	mux.Handle(guide.Root, pages)
	return mux
}
