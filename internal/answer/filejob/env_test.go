package filejob_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// by is the operator.
var by = filejob.By{Actor: audit.Actor{Kind: audit.Operator}}

// env is a service with a database and a store of its own, and a bank with a key.
type env struct {
	*filejob.Service

	t          *testing.T
	super      *pgxpool.Pool
	bank       filejob.Owner
	key        uuid.UUID
	keyEnded   bool
	keyOwner   filejob.Owner // of the key; zero means the bank
	budget     int64
	dayNumbers int64
	ahead      time.Duration // of the clock
}

// newEnv returns a service that knows so many lines of MTN, from +2348030000000 on.
func newEnv(t *testing.T, lines int) *env {
	t.Helper()
	return newEnvAt(t, pgtest.URL(t), lines)
}

// newEnvAt is newEnv with the database at an address.
func newEnvAt(t *testing.T, url string, lines int) *env {
	t.Helper()
	url = pgtest.AnyTime(t, url)
	e := &env{t: t, super: pgtest.Open(t, url, ""), bank: filejob.Owner{Entity: uuid.Must(uuid.NewV7()), Mode: "live"}, key: uuid.Must(uuid.NewV7())}
	pool, now := pgtest.Open(t, url, pg.Serve), func() time.Time { return time.Now().Add(e.ahead) }
	rows, source, _ := numbering.Shipped("NG")
	plan, err := (&numbering.Service{Pool: pool, Now: func() time.Time { return now().AddDate(0, 0, -60) }}).Set(t.Context(), rows, source, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	mtn, _ := plan.Network("MTN")
	e.exec(`INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at) VALUES ($1, 1, $2, $3, $3), ($1, 2, $2, $3, $3)`, mtn, now().AddDate(0, 0, -30), now())
	e.exec(`INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, sim_at)
		SELECT 2348030000000 + i, 1, 1, $1, 1, 0, $2, $2, CASE WHEN i = 7 THEN $3::integer END FROM generate_series(0, $4::bigint - 1) AS i`,
		mtn, line.InstantOf(now().AddDate(-5, 0, 0)), line.InstantOf(now().AddDate(0, 0, -3)), lines)
	e.exec(`INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at) VALUES ($1, 'A Bank', 'RC 1', 'Approved', $2, $2, $3, '2020-01-01')`, e.bank.Entity, false, true)
	e.exec(`INSERT INTO api_key (id, entity_id, name, mode, purpose, mac, preview, created_at) VALUES ($1, $2, 'files', 'live', 'payment', sha256('x'), 'lp_live_x', now())`, e.key, e.bank.Entity)
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := journal.OpenEpoch(t.Context(), pool, "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(&guard.Guard{Pool: pool, Node: "test", Mode: guard.Stop, Now: now, Log: slog.New(slog.DiscardHandler)})
	if err := g.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Service = &filejob.Service{
		Pool: pool, Files: files, Verifier: &verify.Verifier{Lines: &linestore.Resolver{}, Simulator: sandbox.NewSimulator("NG"), Now: now}, Records: &filejob.Records{Node: "test", Numbers: numbers}, Guard: g, Region: region,
		Caller: func(context.Context, pg.DB, uuid.UUID) (filejob.Caller, error) {
			if e.keyEnded {
				return filejob.Caller{}, fault.New(fault.Unauthenticated, "revoked")
			}
			return filejob.Caller{Owner: cmp.Or(e.keyOwner, e.bank), Purpose: "payment", PurposeText: "salaries", Budget: guard.Budget{Year: e.budget, Numbers: e.dayNumbers}}, nil
		},
		Now: now, MaxRows: 5_000_000, MaxWaiting: 1 << 30, Keep: time.Hour,
	}
	return e
}

func (e *env) exec(sql string, args ...any) {
	e.t.Helper()
	if _, err := e.super.Exec(e.t.Context(), sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

// send creates a job with a file.
func (e *env) send(file string) uuid.UUID {
	e.t.Helper()
	j, err := e.Create(e.t.Context(), e.bank, e.key, "salaries", by)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.Receive(e.t.Context(), e.bank, j.ID, strings.NewReader(file), by); err != nil {
		e.t.Fatal(err)
	}
	return j.ID
}

// finish runs all jobs to their end and returns one of them.
func (e *env) finish(id uuid.UUID) filejob.Job {
	e.t.Helper()
	if err := e.RunUntilIdle(e.t.Context(), slog.New(slog.NewTextHandler(e.t.Output(), nil))); err != nil {
		e.t.Fatal(err)
	}
	return e.job(id)
}

func (e *env) job(id uuid.UUID) filejob.Job {
	e.t.Helper()
	j, err := e.Job(e.t.Context(), e.bank, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return j
}

// result returns the lines of a result by the names of their columns.
func (e *env) result(id uuid.UUID) (lines []map[string]string) {
	e.t.Helper()
	in, err := e.Result(e.t.Context(), e.bank, id)
	if err != nil {
		e.t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		e.t.Fatal(err)
	}
	all, err := csv.NewReader(z).ReadAll()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, cells := range all[1:] {
		line := map[string]string{}
		for i, cell := range cells {
			line[all[0][i]] = cell
		}
		lines = append(lines, line)
	}
	return lines
}

// records returns how many records a job has, and of how many different questions.
func (e *env) records(id uuid.UUID) (all, different int) {
	e.t.Helper()
	err := e.super.QueryRow(e.t.Context(), `SELECT count(*), count(DISTINCT external_id) FROM journal_entry WHERE correlator = $1`, id.String()).Scan(&all, &different)
	if err != nil {
		e.t.Fatal(err)
	}
	return all, different
}

// storedFiles returns how many files the store has.
func (e *env) storedFiles() (n int) {
	e.t.Helper()
	if err := e.Files.List(e.t.Context(), func(blob.Item) error { n++; return nil }); err != nil {
		e.t.Fatal(err)
	}
	return n
}

// fileOf returns a file of so many numbers, with an id for each: the first hundred of MTN, and
// others that are spread like customers.
func fileOf(rows int) string {
	var b strings.Builder
	b.WriteString("number,externalId\n")
	for i := range rows {
		n := i
		if i >= 100 {
			n = i*4_900 + i*i%1_009
		}
		fmt.Fprintf(&b, "0803%07d,row-%d\n", n, i)
	}
	return b.String()
}
