package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// openAnswers opens what answers verifications, records them in the journal and counts them.
func (s *service) openAnswers(ctx context.Context) (err error) {
	if s.journal, err = journal.Open(ctx, s.lanes.verify, s.cfg.Node, s.cfg.VerifyFlushes); err != nil {
		return err
	}
	s.journal.Observe = s.observeJournal
	s.lines, s.simulator = &linestore.Resolver{}, sandbox.NewSimulator(s.cfg.Region)
	s.verifier = &verify.Verifier{
		Journal: s.journal, Breaker: s.breaker, Lines: s.lines, Simulator: s.simulator, Now: time.Now,
		MaxBatch: s.cfg.VerifyBatch, MaxInFlight: s.cfg.VerifyFlushes, MaxQueue: s.cfg.VerifyQueue, Timeout: s.cfg.VerifyTimeout,
	}
	s.breaker.Warm, s.breaker.OnChange = s.verifier.Warm, (&outages{ctx: ctx, log: s.log, metrics: s.metrics}).change
	s.metrics.RegisterWaiting(s.verifier.Waiting)
	s.tallies = &tally.Tally{Pool: s.lanes.people, Read: s.lanes.reader, Now: time.Now}
	s.meter = tally.NewMeter(s.lanes.verify, s.cfg.Node, time.Now, s.log)
	return nil
}

func (s *service) observeJournal(entries int, took time.Duration, err error) {
	switch {
	case err == nil:
		s.metrics.JournalWritten(entries, took)
	case errors.Is(err, pg.ErrUnknown):
		s.metrics.JournalUnknown(entries)
	default:
		s.metrics.JournalRefused(entries)
	}
}

// countEnd counts how requests to verify ended. Client errors (4xx) count as
// refused and not as failed.
func (s *service) countEnd(e httpapi.End) {
	m := s.meter
	switch {
	case e.Code != "":
		m.RecordKey(e.Entity, e.Key, e.Mode, string(e.Code), 1)
	case e.Answer != "":
		m.RecordKey(e.Entity, e.Key, e.Mode, string(e.Answer), 1)
	}
	for status, n := range e.Answers {
		m.RecordKey(e.Entity, e.Key, e.Mode, string(status), n)
	}
	switch {
	case e.Status >= http.StatusInternalServerError:
		m.Record(e.Entity, e.Mode, tally.Failed, 0)
	case e.Status >= http.StatusBadRequest:
		m.Record(e.Entity, e.Mode, tally.Refused, 0)
	case e.Single:
		m.Record(e.Entity, e.Mode, tally.Answered, e.Took)
	default:
		m.Record(e.Entity, e.Mode, tally.Answered, 0)
	}
}
