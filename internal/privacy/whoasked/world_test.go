package whoasked_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const number = 2348031234567

var operator = audit.Actor{Kind: audit.Operator}

// world is a service on a database with past days, and a clock that the test moves.
type world struct {
	*testing.T
	*whoasked.Service
	approvals    *approval.Service
	owner, super *pgxpool.Pool
	journal      *journal.Journal
	dir          string
	clock        time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	url := pgtest.AnyTime(t, pgtest.URL(t))
	w := &world{T: t, owner: pgtest.Open(t, url, pg.Owner), super: pgtest.Open(t, url, ""), dir: t.TempDir(), clock: time.Now().UTC().Truncate(time.Second)}
	pool, now := pgtest.Open(t, url, pg.Serve), func() time.Time { return w.clock }
	files, err := blob.OpenDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	w.Service = &whoasked.Service{Pool: pool, Files: files, Registry: &registry.Registry{Pool: pool, Now: now}, Now: now}
	w.approvals = &approval.Service{Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: whoasked.Effects(), Now: now}
	if w.journal, err = journal.Open(t.Context(), pool, "a", 2); err != nil {
		t.Fatal(err)
	}
	return w
}

// exec runs a statement as superuser.
func (w *world) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.super.Exec(w.Context(), sql, args...); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) count(sql string, args ...any) (n int) {
	w.Helper()
	if err := w.super.QueryRow(w.Context(), sql, args...).Scan(&n); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return n
}

// administrator creates an account and returns it as an actor.
func (w *world) administrator() audit.Actor {
	w.Helper()
	id := uuid.New()
	w.exec(`INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', 'administrator', 'S', $2, $2, now())`, id, id.String())
	return audit.Actor{Kind: audit.Account, ID: id}
}

// organisation creates an organisation and returns its id.
func (w *world) organisation(name, cac string) uuid.UUID {
	w.Helper()
	e, err := w.Registry.CreateRelyingParty(w.Context(), name, cac, operator, uuid.Nil)
	if err != nil {
		w.Fatal(err)
	}
	return e.ID
}

// day creates the partitions of a day in the past and returns the day.
func (w *world) day(ago int) time.Time {
	w.Helper()
	day := w.clock.Truncate(24*time.Hour).AddDate(0, 0, -ago)
	if err := journaltest.MakeDay(w.Context(), w.super, day); err != nil {
		w.Fatal(err)
	}
	return day
}

func entry(at time.Time, entity uuid.UUID, about int64) record.Entry {
	at = at.UTC().Truncate(time.Millisecond)
	return record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: entity, Key: uuid.New(), Type: "number", Mode: "live", Purpose: "account-opening",
		Status: "NORMAL", MobileNetwork: "MTN", PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: about, PhoneNumber: "0803 123 4567", Correlator: "bank-secret-correlator", ExternalID: "bank-secret-customer"},
	}
}

// append records entries, those of one time as one batch.
func (w *world) append(entries ...record.Entry) {
	w.Helper()
	slices.SortStableFunc(entries, func(a, b record.Entry) int { return a.At.Compare(b.At) })
	for len(entries) > 0 {
		n := slices.IndexFunc(entries, func(e record.Entry) bool { return !e.At.Equal(entries[0].At) })
		if n < 0 {
			n = len(entries)
		}
		batch := entries[:n]
		if err := w.journal.Record(w.Context(), func(pg.DB) ([]record.Entry, error) { return batch, nil }); err != nil {
			w.Fatal(err)
		}
		entries = entries[n:]
	}
}

func (w *world) archive(day time.Time) {
	w.Helper()
	if _, err := (&journal.Archiver{Pool: w.owner, Files: w.Files, Now: time.Now}).Archive(w.Context(), day); err != nil {
		w.Fatal(err)
	}
}

// request requests a search of the days of the last quarter.
func (w *world) request(by audit.Actor) uuid.UUID {
	w.Helper()
	n, _ := phone.FromInt(number)
	id, err := w.Request(w.Context(), whoasked.Request{
		Number: n, First: w.clock.Truncate(24*time.Hour).AddDate(0, 0, -90), Last: w.clock.Truncate(24 * time.Hour), Reason: "Request of the holder, case DSAR-2026-0017", By: by,
	})
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// confirmed requests a search and has another person confirm it.
func (w *world) confirmed() uuid.UUID {
	w.Helper()
	id := w.request(operator)
	if _, err := w.approvals.Confirm(w.Context(), id, w.administrator(), uuid.Nil); err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *world) run(id uuid.UUID) (whoasked.Report, error) {
	return w.Service.Run(context.WithoutCancel(w.Context()), id, operator, nil)
}
