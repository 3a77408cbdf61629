package supply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
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

// runTime is how much time passes on the clock of a random run.
const runTime = 150 * 24 * time.Hour

// randomRun reports random events: several suppliers at once, in time, late and too
// late, some sent twice, some voided, some confirmed.
type randomRun struct {
	*env

	base  int64 // the first number
	lines int64
	total int64 // events to send
	sent  atomic.Int64
	from  time.Time
	hash  maphash.Seed

	mu         sync.Mutex
	outcomes   map[string]int64
	calls      int64
	again      int64  // calls that had to be made again
	orders     int64  // of the regulator
	wrong      string // an event that was sent again and is no duplicate
	acceptedID uint64 // sum of the hashes of the ids of what was stored
}

// now is the time of the run: it moves on with what was sent.
func (c *randomRun) now() time.Time {
	return c.from.Add(time.Duration(float64(runTime) * float64(c.sent.Load()) / float64(c.total))).Truncate(time.Second)
}

// randomClient is one caller: its kinds of event, and those that it has sent lately.
type randomClient struct {
	supplier supply.Supplier
	kinds    []line.Kind
	recent   []supply.Item
	random   *rand.Rand
	n        int
	name     string
}

// Ten million random events about a million numbers, with duplicates, corrections and
// confirmations, from several suppliers at once: every row and every outcome is what a
// simple model makes of the stored events, the open events are those of the history,
// and no event is lost or counted twice. This run is smaller; LINEPROOF_E2E_EVENTS sets
// the size.
func TestRandomEventsMakeTheRowsThatASimpleModelMakes(t *testing.T) {
	t.Parallel()
	events := fromEnv(t, "LINEPROOF_E2E_EVENTS", 8_000)
	e := newEnv(t)
	c := &randomRun{
		env: e, base: 2348030000000, lines: int64(max(events/10, 100)), total: int64(events), from: e.clock.Add(-runTime), hash: maphash.MakeSeed(),
		outcomes: make(map[string]int64),
	}
	c.Now = c.now
	c.start(t)
	start := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	for i, client := range c.newClients(fromEnv(t, "LINEPROOF_E2E_SEED", 7)) {
		group.Go(func() error {
			for c.sent.Load() < c.total {
				if err := c.report(ctx, client); err != nil {
					return fmt.Errorf("client %d: %w", i, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if c.wrong != "" {
		t.Error(c.wrong)
	}
	for _, word := range []string{supply.Applied, supply.NoEffect, supply.Waiting, supply.Duplicate, supply.Refused} {
		if c.outcomes[word] == 0 {
			t.Errorf("the run is not random enough: no event is %s", word)
		}
	}
	if c.orders == 0 {
		t.Error("the run is not random enough: nothing was confirmed or voided by an order")
	}
	found := c.compare(t)
	accepted := c.orders
	for word, n := range c.outcomes {
		if word != supply.Duplicate && word != supply.Refused {
			accepted += n
		}
	}
	if found.events != accepted || found.ids != c.acceptedID {
		t.Errorf("%d events are stored, %d were accepted; sums of their ids %x and %x", found.events, accepted, found.ids, c.acceptedID)
	}
	if n := c.count(`SELECT count(*) FROM (SELECT network, count(*) AS lines FROM line_now WHERE state BETWEEN 1 AND 4 GROUP BY network) l
		FULL JOIN (SELECT network, lines FROM network_lines WHERE lines <> 0) c USING (network) WHERE l.lines IS DISTINCT FROM c.lines`); n > 0 {
		t.Errorf("the lines of %d networks are not counted correctly", n)
	}
	t.Logf("%d events about %d numbers in %v (%.0f/s): %v, %d orders, %d calls, %d made again; %d rows were compared, %d events are open", events, c.lines,
		took.Round(time.Second), float64(events)/took.Seconds(), c.outcomes, c.orders, c.calls, c.again, found.rows, found.open)
}

// start imports a baseline for half of the numbers.
func (c *randomRun) start(t *testing.T) {
	t.Helper()
	var file bytes.Buffer
	file.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	states := []string{"ACTIVE", "INACTIVE", "PARKED", "BARRED", "PENDING_CHURN", "QUARANTINED"}
	for i := int64(0); i < c.lines; i += 2 {
		began := c.from.AddDate(0, 0, -int(i%900)-1)
		tenure, sim := began.Format(time.DateOnly), ""
		switch i / 2 % 5 {
		case 0:
			tenure = began.Format(time.RFC3339)
		case 1:
			sim = "NEVER"
		case 2:
			tenure = "UNKNOWN"
		case 3:
			sim = began.AddDate(0, 0, int(i%900)/2).Format(time.DateOnly)
		}
		fmt.Fprintf(&file, "+%d,%s,%s,%s,%s\n", c.base+i, tenure, sim, states[i/2%6], began.Format(time.DateOnly))
	}
	im, err := c.Begin(t.Context(), operator("MTN"), supply.ImportForm{Kind: linefile.Snapshot, AsOf: c.from}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	if im, err = c.Run(t.Context(), im.ID, supply.Source{Open: open}, nil); err != nil || im.State != supply.Finished || im.Counts.Added != (c.lines+1)/2 {
		t.Fatalf("the snapshot ended %s %+v, %v", im.State, im.Counts, err)
	}
}

func (c *randomRun) newClients(seed int) []*randomClient {
	kinds := []line.Kind{
		line.Assign, line.Transfer, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.GiveNotice, line.Park, line.Deactivate, line.Use,
		line.End, line.End, line.Reinstate, line.ClaimPort, line.ClaimPort, line.ReleasePort, line.ReleasePort,
	}
	sector := []line.Kind{line.Flag, line.Flag, line.Unflag}
	all := []*randomClient{
		{supplier: operator("MTN"), kinds: kinds},
		{supplier: operator("MTN"), kinds: kinds},
		{supplier: operator("AIRTEL"), kinds: kinds},
		{supplier: operator("GLO"), kinds: kinds},
		{supplier: newSupplier(line.ClearingHouse, ""), kinds: []line.Kind{line.Port}},
		{supplier: newSupplier(line.Sector, ""), kinds: sector},
		{supplier: newSupplier(line.Sector, ""), kinds: sector},
		{supplier: regulator(), kinds: []line.Kind{line.Bar, line.Bar, line.Unbar, line.Unflag, line.Blacklist, line.Release, line.Release}},
	}
	for i, r := range all {
		r.random, r.name = rand.New(rand.NewPCG(uint64(i), uint64(seed))), strconv.Itoa(i)
	}
	return all
}

// report makes one call, or gives orders, and counts the results.
func (c *randomRun) report(ctx context.Context, r *randomClient) error {
	isRegulator := r.supplier.Authorities[0] == line.Regulator
	if isRegulator && r.random.IntN(2) == 0 {
		return c.decide(ctx, r)
	}
	items, repeated := make([]supply.Item, 1+r.random.IntN(60)), make([]bool, 60)
	for i := range items {
		items[i], repeated[i] = c.item(r)
	}
	c.sent.Add(int64(len(items)))
	var assured []supply.Assurance
	if r.supplier.Network != "" && r.random.IntN(5) == 0 {
		assured = through(c.now().Add(-time.Duration(r.random.IntN(48)) * time.Hour))
	}
	receipt, err := c.ApplyEvents(ctx, r.supplier, items, assured...)
	waits := int64(0)
	for fault.CodeOf(err) == fault.Unavailable && !errors.Is(err, pg.ErrUnknown) && ctx.Err() == nil {
		waits++ // others hold the numbers; nothing was kept, so the same call is made again, as the contract says
		receipt, err = c.ApplyEvents(ctx, r.supplier, items, assured...)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.again += waits
	for i, got := range receipt.Results {
		c.outcomes[got.Outcome]++
		if repeated[i] && got.Outcome != supply.Duplicate {
			c.wrong = fmt.Sprintf("sent again, an event is %s %s: %+v", got.Outcome, got.Reason, items[i])
		}
		if got.Outcome == supply.Duplicate || got.Outcome == supply.Refused {
			continue
		}
		c.acceptedID += maphash.String(c.hash, got.ID)
		if r.recent = append(r.recent, items[i]); len(r.recent) > 5000 {
			r.recent = r.recent[2500:]
		}
	}
	return nil
}

// decide confirms and voids some held events, and voids some other ones.
func (c *randomRun) decide(ctx context.Context, r *randomClient) error {
	open, err := c.OpenEvents(ctx, supply.OpenQuery{Held: true, Limit: 40})
	if err != nil {
		return err
	}
	var forms []order.Form
	for _, o := range open {
		switch r.random.IntN(8) {
		case 0, 1:
			forms = append(forms, order.Form{PhoneNumber: o.Number.E164(), Action: "CONFIRM", Event: strconv.FormatInt(o.Seq, 10)})
		case 2:
			forms = append(forms, order.Form{PhoneNumber: o.Number.E164(), Action: "VOID", Event: strconv.FormatInt(o.Seq, 10)})
		}
	}
	n, _ := phone.FromInt(c.base + r.random.Int64N(c.lines))
	var seq *int64
	if err := c.Pool.QueryRow(ctx, `SELECT max(seq) FROM line_event WHERE number = $1`, n.Int()).Scan(&seq); err != nil {
		return err
	}
	if seq != nil {
		forms = append(forms, order.Form{PhoneNumber: n.E164(), Action: "VOID", Event: strconv.FormatInt(*seq, 10)})
	}
	for _, f := range forms {
		f.Note = "decided"
		o, err := giveOrder(ctx, c.Service, r.supplier, f)
		if code := fault.CodeOf(err); code == fault.InvalidArgument || code == fault.Unavailable {
			continue // decided meanwhile, a void, or others hold the number
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.orders++
		c.acceptedID += maphash.String(c.hash, o.ID.String())
		c.mu.Unlock()
	}
	return nil
}

// item returns an event, and whether it is one that was accepted before.
func (c *randomRun) item(r *randomClient) (i supply.Item, again bool) {
	random := r.random
	r.n++
	id := "event " + r.name + " " + strconv.Itoa(r.n)
	if len(r.recent) > 0 {
		old := r.recent[random.IntN(len(r.recent))]
		switch random.IntN(20) {
		case 0:
			return old, true
		case 1:
			if old.Voids == "" && r.supplier.Authorities[0] != line.Regulator { // who voids by seq
				return supply.Item{ID: id, PhoneNumber: old.PhoneNumber, Type: "VOIDED", EffectiveAt: old.EffectiveAt, Voids: old.ID, Note: "sent in error"}, false
			}
		case 2:
			if random.IntN(4) == 0 {
				old.PhoneNumber = "+" + strconv.FormatInt(c.base+c.lines+1, 10) // the id of another number
				return old, false
			}
		}
	}
	at := c.now().Add(-c.delay(random))
	kind := r.kinds[random.IntN(len(r.kinds))]
	i = supply.Item{ID: id, PhoneNumber: "+" + strconv.FormatInt(c.base+random.Int64N(c.lines), 10), Type: kind.String(), EffectiveAt: at.Format(time.RFC3339)}
	switch random.IntN(6) {
	case 0:
		i.EffectiveAt = at.Truncate(24 * time.Hour).Format(time.RFC3339) // so that times meet
	case 1:
		i.EffectiveAt = at.Format(time.DateOnly)
	}
	switch kind { //nolint:exhaustive // the others say no more
	case line.Bar:
		i.Reason = []string{"NIN", "FRAUD", "LOST"}[random.IntN(3)]
		if r.supplier.Authorities[0] == line.Regulator {
			i.Scope = []string{"", "HOLDER", "NUMBER"}[random.IntN(3)]
		}
	case line.End:
		i.Reason = []string{"CHURNED", "SURRENDERED"}[random.IntN(2)]
	case line.Flag:
		i.Level = []string{"MEDIUM", "HIGH", "VERY_HIGH"}[random.IntN(3)]
	case line.GiveNotice:
		i.ChurnAt = at.AddDate(0, 0, 15+random.IntN(60)).Format(time.RFC3339)
	case line.Port, line.ReleasePort:
		i.Network = []string{"AIRTEL", "GLO", "MTN"}[random.IntN(3)]
	}
	return i, false
}

// delay returns how long after its effect an event is reported: most in time, many
// late, some too late, and a few ahead of their time.
func (c *randomRun) delay(random *rand.Rand) time.Duration {
	upTo := []time.Duration{10 * time.Minute, 10 * time.Minute, 3 * time.Hour, 3 * 24 * time.Hour, 10 * 24 * time.Hour, 30 * 24 * time.Hour, 45 * 24 * time.Hour}
	return time.Duration(random.Int64N(int64(upTo[random.IntN(len(upTo))]))) - time.Minute
}

// stored is what a run left in the database.
type stored struct {
	rows, events, open int64
	ids                uint64 // sum of the hashes of the ids of the events
}

// compare reads every row and compares it, and the outcomes of its events, with what
// the simple model makes of the history, and its open events with the outcomes.
func (c *randomRun) compare(t *testing.T) (found stored) {
	t.Helper()
	terms, after, wrong := c.terms(), phone.Number{}, 0
	for {
		records, err := linestore.RowsAfter(t.Context(), c.Pool, after, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			break
		}
		numbers, rows := make([]phone.Number, len(records)), make(map[phone.Number]line.Row, len(records))
		for i, r := range records {
			numbers[i], rows[r.Number] = r.Number, r.Row
		}
		after = numbers[len(numbers)-1]
		histories, err := linestore.Histories(t.Context(), c.Pool, numbers, rows)
		if err != nil {
			t.Fatal(err)
		}
		open := c.openOf(t, numbers)
		for n, h := range histories {
			found.rows++
			found.open += int64(len(open[n]))
			for i := range h.Events {
				if e := &h.Events[i]; e.Kind != line.Port || e.Authority != line.Operator { // which the service makes of two halves
					found.events++
					found.ids += maphash.String(c.hash, e.ID)
				}
			}
			if difference := c.difference(n, h, rows[n], open[n], terms); difference != "" && wrong < 5 {
				wrong++
				t.Error(difference)
			}
		}
	}
	if n := int64(c.count(`SELECT count(*) FROM line_open`)); n != found.open {
		t.Errorf("%d events are open, %d of them of no number", n, n-found.open)
	}
	return found
}

// difference returns in what a number differs from what its history makes of it, or
// nothing.
func (c *randomRun) difference(n phone.Number, h *line.History, row line.Row, open []line.OpenEvent, terms line.TermsAt) string {
	folded, outcomes := line.Fold(h, terms, line.Forever)
	if folded != row {
		return "the row and the fold (+) differ:\n" + cmp.Diff(row, folded)
	}
	want := h.Open(n, outcomes)
	slices.SortFunc(want, func(a, b line.OpenEvent) int { return int(a.Seq - b.Seq) })
	if diff := cmp.Diff(want, open, cmpopts.EquateComparable(phone.Number{}), cmpopts.EquateEmpty()); diff != "" {
		return "the open events (+) are not those of the history:\n" + diff
	}
	if linemodel.Compare(h, terms) == "" {
		return ""
	}
	h = linemodel.Minimize(h, func(h *line.History) bool { return linemodel.Compare(h, terms) != "" })
	return linemodel.Compare(h, terms) + "in the history:\n" + linemodel.Format(h, nil, nil)
}

// openOf reads the stored open events of numbers, by seq.
func (c *randomRun) openOf(t *testing.T, numbers []phone.Number) map[phone.Number][]line.OpenEvent {
	t.Helper()
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	rows, err := c.Pool.Query(t.Context(), `SELECT number, seq, outcome, half, hold, network, reported_at FROM line_open WHERE number = ANY($1) ORDER BY seq`, keys)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o line.OpenEvent, err error) {
		var number int64
		var outcome, network int16
		err = row.Scan(&number, &o.Seq, &outcome, &o.Half, &o.Hold, &network, &o.ReportedAt)
		o.Number, _ = phone.FromInt(number)
		o.Outcome, o.Network, o.ReportedAt = line.Outcome(outcome), numbering.Network(network), o.ReportedAt.UTC()
		return o, err
	})
	if err != nil {
		t.Fatal(err)
	}
	byNumber := make(map[phone.Number][]line.OpenEvent)
	for _, o := range all {
		byNumber[o.Number] = append(byNumber[o.Number], o)
	}
	return byNumber
}
