package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// fromEnv returns the size of a run from the environment, or a default that is small
// enough for every commit.
func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a whole number above 0", name)
	}
	return n
}

const (
	runDays   = 12            // that pass in a run
	firstLine = 2348030000000 // of MTN
)

// impactRun is a register in which events are reported, and answers given, over some
// days that have passed.
type impactRun struct {
	*supply.Service
	*verify.Verifier

	t           *testing.T
	pool, owner *pgxpool.Pool
	files       blob.Store
	clock       time.Time
	lines       int
	random      *rand.Rand
	events      int // sent so far
	sent        map[string][]supply.Item
	records     map[uuid.UUID]bool // the answers that were given
	imports     []uuid.UUID
	createdAt   map[int32]time.Time // of imports
	banks       []uuid.UUID
	onStep      func() // called after each half day; may be nil
}

func newImpactRun(t *testing.T, lines int) *impactRun {
	t.Helper()
	url := pgtest.AnyTime(t, pgtest.URL(t))
	today := time.Now().UTC().Truncate(24 * time.Hour)
	r := &impactRun{
		t: t, pool: pgtest.Open(t, url, pg.Serve), owner: pgtest.Open(t, url, pg.Owner), clock: today.AddDate(0, 0, -runDays), lines: lines,
		random: rand.New(rand.NewPCG(1, uint64(lines))), sent: make(map[string][]supply.Item), records: make(map[uuid.UUID]bool),
	}
	super := pgtest.Open(t, url, "")
	for day := r.clock.AddDate(0, 0, -1); day.Before(today.AddDate(0, 0, -1)); day = day.AddDate(0, 0, 1) {
		if err := journaltest.MakeDay(t.Context(), super, day); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if r.files, err = blob.OpenDir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.files.Close() })
	for range 3 {
		id := uuid.Must(uuid.NewV7())
		_, err := r.pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at)
			VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, id)
		if err != nil {
			t.Fatal(err)
		}
		r.banks = append(r.banks, id)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Service{Pool: r.pool, Now: func() time.Time { return daysAgo(1000) }}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Open(t.Context(), r.pool, "test", 2)
	if err != nil {
		t.Fatal(err)
	}
	resolver, clock := &linestore.Resolver{}, func() time.Time { return r.clock }
	r.Service = &supply.Service{Pool: r.pool, Region: region, Lines: resolver, Now: clock}
	r.Verifier = &verify.Verifier{
		Journal: records, Lines: resolver, Now: clock, MaxBatch: 500, MaxInFlight: 1, MaxQueue: 32_000, Timeout: time.Minute,
	}
	return r
}

func supplierOf(a line.Authority, network string) supply.Supplier {
	return supply.Supplier{Authorities: []line.Authority{a}, Network: network, Client: uuid.NewSHA1(uuid.Nil, []byte(a.String()+network)), Actor: audit.Actor{Kind: audit.Operator}}
}

// number returns one of the lines. The last tenth is in no snapshot, and the rest
// from the second tenth on in the first.
func (r *impactRun) number() int64 { return firstLine + r.random.Int64N(int64(r.lines)) }

// verifyMany gives answers about random numbers, about half of them with extra fields.
func (r *impactRun) verifyMany(n int) {
	r.t.Helper()
	requests := make([]verify.Request, n)
	key := uuid.New()
	for i := range requests {
		entity := r.banks[r.random.IntN(len(r.banks))]
		q := verify.Request{Entity: entity, Key: key, Mode: "live", RawNumber: "as sent"}
		q.Number, _ = phone.FromInt(r.number())
		if r.random.IntN(3) > 0 {
			q.Include = verify.Include{Signals: r.random.IntN(2) == 0, Coverage: r.random.IntN(6) == 0, Dates: r.random.IntN(4) == 0}
			q.Purpose = []string{"payment", "other"}[r.random.IntN(2)]
		}
		if r.random.IntN(3) == 0 {
			q.Since = r.clock.Add(-time.Duration(r.random.IntN(20*24)) * time.Hour)
		}
		requests[i] = q
	}
	for chunk := range slices.Chunk(requests, 10_000) {
		answers, errs, err := r.VerifyAll(r.t.Context(), chunk)
		if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); err != nil || i >= 0 {
			r.t.Fatalf("%v, %v", err, errs[max(i, 0)])
		}
		for i := range answers {
			r.records[answers[i].RequestID] = true
		}
	}
}

var impactKinds = []line.Kind{
	line.Assign, line.Transfer, line.ChangeSIM, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.GiveNotice, line.Park, line.Deactivate,
	line.Use, line.End, line.End, line.Reinstate, line.ClaimPort, line.ReleasePort,
}

// report reports random events, most of them late, and withdraws some.
func (r *impactRun) report(n int) {
	r.t.Helper()
	for _, from := range []struct {
		supplier supply.Supplier
		kinds    []line.Kind
		n        int
	}{
		{supplierOf(line.Operator, "MTN"), impactKinds, n},
		{supplierOf(line.Operator, "AIRTEL"), impactKinds, n / 8},
		{supplierOf(line.ClearingHouse, ""), []line.Kind{line.Port}, n / 8},
		{supplierOf(line.Sector, ""), []line.Kind{line.Flag, line.Flag, line.Unflag}, n / 8},
	} {
		items := make([]supply.Item, 0, from.n)
		name := from.supplier.Client.String()
		for range from.n {
			items = append(items, r.item(from.kinds, r.sent[name]))
		}
		for chunk := range slices.Chunk(items, 200) {
			var assured []supply.Assurance
			if from.supplier.Network != "" && r.random.IntN(2) == 0 {
				through := r.clock.Add(-time.Duration(r.random.IntN(30)) * time.Hour)
				assured = []supply.Assurance{{Topic: line.TopicLifecycle, Through: through}, {Topic: line.TopicSIM, Through: through}}
			}
			receipt, err := r.ApplyEvents(r.t.Context(), from.supplier, chunk, assured...)
			if err != nil {
				r.t.Fatal(err)
			}
			for i, got := range receipt.Results {
				if got.Outcome != supply.Refused && got.Outcome != supply.Duplicate {
					r.sent[name] = append(r.sent[name], chunk[i])
				}
			}
		}
	}
}

func (r *impactRun) item(kinds []line.Kind, sent []supply.Item) supply.Item {
	r.events++
	id := "event " + strconv.Itoa(r.events)
	if len(sent) > 0 && r.random.IntN(8) == 0 {
		if old := sent[r.random.IntN(len(sent))]; old.Voids == "" {
			return supply.Item{ID: id, PhoneNumber: old.PhoneNumber, Type: "VOIDED", EffectiveAt: old.EffectiveAt, Voids: old.ID, Note: "sent in error"}
		}
	}
	delays := []time.Duration{time.Hour, 12 * time.Hour, 4 * 24 * time.Hour, 10 * 24 * time.Hour, 45 * 24 * time.Hour}
	at := r.clock.Add(-time.Duration(r.random.Int64N(int64(delays[r.random.IntN(len(delays))]))) + 30*time.Second)
	kind := kinds[r.random.IntN(len(kinds))]
	i := supply.Item{ID: id, PhoneNumber: "+" + strconv.FormatInt(r.number(), 10), Type: kind.String(), EffectiveAt: at.Format(time.RFC3339)}
	if r.random.IntN(4) == 0 {
		i.EffectiveAt = at.Format(time.DateOnly)
	}
	switch kind { //nolint:exhaustive // the others say no more
	case line.Bar:
		i.Reason = "LOST"
	case line.End:
		i.Reason = "CHURNED"
	case line.Flag:
		i.Level = []string{"MEDIUM", "HIGH", "VERY_HIGH"}[r.random.IntN(3)]
	case line.GiveNotice:
		i.ChurnAt = at.AddDate(0, 0, 15+r.random.IntN(3)).Format(time.RFC3339)
	case line.Port, line.ReleasePort:
		i.Network = []string{"AIRTEL", "MTN"}[r.random.IntN(2)]
	}
	return i
}

// decide confirms and voids held events, and voids some others, by order of the regulator.
func (r *impactRun) decide(n int) {
	r.t.Helper()
	open, err := r.OpenEvents(r.t.Context(), supply.OpenQuery{Held: true, Limit: n})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range open {
		action := []string{"CONFIRM", "CONFIRM", "VOID"}[r.random.IntN(3)]
		orders := order.Service{Supply: r.Service}
		made, err := orders.Create(r.t.Context(), supplierOf(line.Regulator, ""), order.Form{
			PhoneNumber: o.Number.E164(), Action: action, Event: strconv.FormatInt(o.Seq, 10), Note: "decided",
		})
		if err == nil && made.State == order.Pending {
			second := supplierOf(line.Regulator, "")
			second.Actor = audit.Actor{Kind: audit.Client, ID: uuid.NewSHA1(uuid.Nil, []byte("a second person"))}
			_, err = orders.Confirm(r.t.Context(), second, made.ID)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			r.t.Fatal(err)
		}
	}
}

// snapshot imports a snapshot of MTN with the lines from one to another. A part of the
// rows says something else than the snapshot before.
func (r *impactRun) snapshot(asOf time.Time, from, to, changed int) {
	r.t.Helper()
	var file bytes.Buffer
	file.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	for i := from; i < to; i++ {
		began := asOf.Truncate(24*time.Hour).AddDate(-1, 0, -i%300)
		sim, state, since := "NEVER", "ACTIVE", ""
		if i%5 == 0 {
			sim = r.clock.Truncate(24*time.Hour).AddDate(0, 0, -40-i%60).Format(time.RFC3339)
		}
		if changed > 0 && r.random.IntN(100) < changed {
			switch r.random.IntN(4) {
			case 0:
				sim = asOf.AddDate(0, 0, -1-r.random.IntN(12)).Format(time.DateOnly)
			case 1:
				sim = asOf.Add(-time.Duration(r.random.IntN(12*24)) * time.Hour).Format(time.RFC3339)
			case 2:
				state, since = "BARRED", asOf.AddDate(0, 0, -r.random.IntN(12)).Format(time.RFC3339)
			case 3:
				began = began.AddDate(0, 0, -7)
			}
		}
		fmt.Fprintf(&file, "+%d,%s,%s,%s,%s\n", firstLine+int64(i), began.Format(time.RFC3339), sim, state, since)
	}
	im, err := r.Begin(r.t.Context(), supplierOf(line.Operator, "MTN"), supply.ImportForm{Kind: linefile.Snapshot, AsOf: asOf}, "cli")
	run := func() {
		if err == nil {
			im, err = r.Run(r.t.Context(), im.ID, supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }}, nil)
		}
	}
	if run(); err == nil && im.State == supply.Held {
		err = r.InTx(r.t.Context(), func(tx pg.Tx) error {
			return r.ConfirmHeld(r.t.Context(), tx, im.ID, audit.Entry{At: r.Service.Now(), Actor: audit.Actor{Kind: audit.Operator}})
		})
		run()
	}
	if err != nil || im.State != supply.Finished {
		r.t.Fatalf("the snapshot is %s (%s), %v", im.State, im.Reason, err)
	}
	r.imports = append(r.imports, im.ID)
}

// archive moves the oldest days of the journal into files.
func (r *impactRun) archive(days int) {
	r.t.Helper()
	a := &journal.Archiver{Pool: r.owner, Files: r.files, Now: time.Now}
	due, err := a.Due(r.t.Context(), time.Now().UTC().AddDate(0, 0, -runDays+days))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, day := range due {
		if _, err := a.Archive(r.t.Context(), day); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *impactRun) find(ctx context.Context, c verify.Correction) verify.ImpactResult {
	r.t.Helper()
	found, err := (&verify.ImpactFinder{Pool: r.pool, Files: r.files, Lines: &linestore.Resolver{}}).Find(ctx, c)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}
