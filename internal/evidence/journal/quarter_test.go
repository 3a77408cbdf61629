package journal_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// quarter is days of answers about millions of numbers, among them known answers about
// one. Of nine days eight are archived, but never today and yesterday.
type quarter struct {
	*past
	days, answers, batch int
	today                time.Time
	banks                []uuid.UUID
	purposes             []string
}

const (
	plantedNumber = 2348039999999
	subscribers   = 20_000_000
)

// planted reports how many answers about the number a day has. It is in nine of ten days,
// once, and then three times.
func (q *quarter) planted(day int) int { return []int{1, 1, 3, 1, 1, 0, 1, 1, 1, 1}[day%10] }

// at returns a time of a day. The answers of a day are evenly spread; today's end now.
func (q *quarter) at(day, i int) time.Time {
	start, length := q.today.AddDate(0, 0, -day), 24*time.Hour
	if day == 0 {
		length = max(time.Since(q.today)-time.Minute, time.Second)
	}
	return start.Add(time.Duration(float64(length) * float64(i) / float64(q.answers))).Truncate(time.Millisecond)
}

// batches returns the records of a day.
func (q *quarter) batches(day int) iter.Seq[[]record.Entry] {
	rng := rand.New(rand.NewPCG(7, uint64(day)))
	plant := make(map[int]bool)
	for len(plant) < q.planted(day) {
		plant[rng.IntN(q.answers)] = true
	}
	return func(yield func([]record.Entry) bool) {
		for first := 0; first < q.answers; first += q.batch {
			batch := make([]record.Entry, min(q.batch, q.answers-first))
			for i := range batch {
				at := q.at(day, first)
				batch[i] = entry(at)
				e := &batch[i]
				e.Entity, e.Purpose, e.PurposeText = q.banks[rng.IntN(len(q.banks))], q.purposes[rng.IntN(len(q.purposes))], ""
				if e.Number = 2348030000000 + int64(rng.IntN(subscribers)); e.Number == plantedNumber {
					e.Number--
				}
				if plant[first+i] {
					e.Number = plantedNumber
				}
			}
			if !yield(batch) {
				return
			}
		}
	}
}

// store writes a day to the database, as COPY does.
func (q *quarter) store(t *testing.T, day int) {
	t.Helper()
	if day > 1 { // the partitions of today and yesterday exist
		q.day(t, day)
	}
	var rows [][]any
	n, start := int64(0), 1<<40+int64(day)<<24
	flush := func() {
		if _, err := q.super.CopyFrom(t.Context(), pgx.Identifier{"journal_entry"}, journaltest.Columns(), pgx.CopyFromRows(rows)); err != nil {
			t.Fatal(err)
		}
		rows = rows[:0]
	}
	for batch := range q.batches(day) {
		n++
		for i := range batch {
			rows = append(rows, journaltest.Row(&batch[i], start, n, i))
		}
		if len(rows) > 50_000 {
			flush()
		}
	}
	flush()
	table := "journal_entry_" + q.today.AddDate(0, 0, -day).Format("20060102")
	q.exec(t, "SELECT brin_summarize_new_values(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam WHERE amname = 'brin' AND indrelid = '"+table+"'::regclass")
	q.exec(t, "ANALYZE "+table)
}

// build makes all days: a day on each core.
func (q *quarter) build(t *testing.T) (archived int, bytes int64) {
	t.Helper()
	stored := max(2, q.days/9) // today's and yesterday's partitions exist
	for day := range stored {
		q.store(t, day)
	}
	a := q.archivist()
	if q.answers < 100_000 {
		a.InParts(150) // some parts in a small run, too
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	sizes := make([]int64, q.days)
	for day := stored; day < q.days; day++ {
		group.Go(func() error {
			archive, err := a.WriteDay(t.Context(), q.today.AddDate(0, 0, -day), q.batches(day))
			sizes[day] = archive.Bytes
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		bytes += n
	}
	return q.days - stored, bytes
}

// Over a quarter with a million answers a day, most of it archived, a search finds all
// answers about one number, and nothing else, with at most 60 s of work on two cores.
// This run is small; LINEPROOF_E2E_DAYS and LINEPROOF_E2E_ANSWERS_A_DAY set its size.
func TestWhoAskedOverAQuarter(t *testing.T) {
	t.Parallel()
	const goal = 60 * time.Second
	q := &quarter{
		past: newPast(t), days: sizeOf(t, "LINEPROOF_E2E_DAYS", 9), answers: sizeOf(t, "LINEPROOF_E2E_ANSWERS_A_DAY", 3000), batch: 100,
		today: time.Now().UTC().Truncate(24 * time.Hour), banks: make([]uuid.UUID, 40), purposes: []string{"payment", "account-opening", "fraud"},
	}
	for i := range q.banks {
		q.banks[i] = uuid.New()
	}
	start := time.Now()
	archived, bytes := q.build(t)
	built := time.Since(start)
	want := 0
	for day := range q.days {
		want += q.planted(day)
	}

	service, id := q.allowed(t)
	before, start := ownCPU(t), time.Now()
	report, err := service.Run(t.Context(), id, audit.Actor{Kind: audit.Operator}, nil)
	if err != nil {
		t.Fatal(err)
	}
	took, work := time.Since(start), ownCPU(t)-before
	if report.Answers != want {
		t.Errorf("found %d answers, and %d were planted", report.Answers, want)
	}
	t.Logf("%d days of %d answers, %d of them archived in %d MB (made in %v): found %d of %d answers in %v, %v of CPU without PostgreSQL's",
		q.days, q.answers, archived, bytes/1_000_000, built.Round(time.Second), report.Answers, want, took.Round(time.Millisecond), work.Round(time.Millisecond))
	if took > goal {
		t.Errorf("it took %v, more than %v", took, goal)
	}
}

// allowed returns the service, and the approval of a search of all days that two people
// have allowed.
func (q *quarter) allowed(t *testing.T) (*whoasked.Service, uuid.UUID) {
	t.Helper()
	service := &whoasked.Service{Pool: q.serve, Files: q.files, Registry: &registry.Registry{Pool: q.serve, Now: time.Now}, Now: time.Now}
	number, _ := phone.FromInt(plantedNumber)
	id, err := service.Request(t.Context(), whoasked.Request{
		Number: number, First: q.today.AddDate(0, 0, 1-q.days), Last: q.today, Reason: "A test of the search", By: audit.Actor{Kind: audit.Operator},
	})
	if err != nil {
		t.Fatal(err)
	}
	anybody := func(context.Context, pg.DB, audit.Actor, ...string) error { return nil }
	independent := func(context.Context, pg.DB, audit.Actor, audit.Actor) error { return nil }
	confirm := &approval.Service{Pool: q.serve, CheckStaff: anybody, CheckIndependent: independent, Effects: whoasked.Effects(), Now: time.Now}
	if _, err := confirm.Confirm(t.Context(), id, audit.Actor{Kind: audit.Account, ID: uuid.New()}, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	return service, id
}

func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	used, err := process.OwnCPU()
	if err != nil {
		t.Fatal(err)
	}
	return used
}
