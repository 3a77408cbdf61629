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
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
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

// randomRun reports random events: several suppliers at once, events in random order,
// some sent twice, some voided.
type randomRun struct {
	service *supply.Service
	base    int64 // the first number
	lines   int64
	hash    maphash.Seed
	from    time.Time

	mu                                   sync.Mutex
	accepted, duplicates, refused, calls int64
	again                                int64  // calls that had to be made again
	sum                                  uint64 // of the hashes of what was accepted
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

// Ten million random events about a million numbers, in random order, with
// duplicates and corrections, from several suppliers at once: every row is what a
// simple model makes of its events, and no event is lost or counted twice. This run
// is smaller; LINEPROOF_E2E_EVENTS sets the size.
func TestRandomEventsMakeTheRowsThatASimpleModelMakes(t *testing.T) {
	t.Parallel()
	events := fromEnv(t, "LINEPROOF_E2E_EVENTS", 20_000)
	e := newEnv(t)
	c := &randomRun{service: e.Service, base: 2348030000000, lines: int64(max(events/10, 100)), hash: maphash.MakeSeed(), from: e.clock.AddDate(-1, 0, 0)}
	c.start(t)
	start := time.Now()
	group, groupCtx := errgroup.WithContext(t.Context())
	tellers := c.newClients()
	for i, teller := range tellers {
		share := events / len(tellers)
		group.Go(func() error {
			for sent := 0; sent < share; {
				n, err := c.report(groupCtx, teller)
				if err != nil {
					return fmt.Errorf("client %d: %w", i, err)
				}
				sent += n
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if c.accepted == 0 || c.duplicates == 0 || c.refused == 0 {
		t.Fatalf("the run is not random enough: %d accepted, %d duplicates, %d refused", c.accepted, c.duplicates, c.refused)
	}
	stored, sum, rows := c.compare(t)
	if stored != c.accepted || sum != c.sum {
		t.Errorf("%d events are stored, %d were accepted; sums of their ids %x and %x", stored, c.accepted, sum, c.sum)
	}
	t.Logf("%d events about %d numbers in %v (%.0f/s): %d accepted, %d sent again, %d refused, %d calls made again; %d rows equal the model", events, c.lines,
		took.Round(time.Second), float64(events)/took.Seconds(), c.accepted, c.duplicates, c.refused, c.again, rows)
}

// start imports a baseline for half of the numbers.
func (c *randomRun) start(t *testing.T) {
	t.Helper()
	asOf := c.from.AddDate(0, 6, 0)
	var file bytes.Buffer
	file.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	states := []string{"ACTIVE", "INACTIVE", "PARKED", "BARRED", "PENDING_CHURN", "QUARANTINED"}
	for i := int64(0); i < c.lines; i += 2 {
		began := asOf.AddDate(0, 0, -int(i%900)-1).Format(time.DateOnly)
		fmt.Fprintf(&file, "+%d,%s,,%s,%s\n", c.base+i, began, states[i/2%6], began)
	}
	im, err := c.service.Begin(t.Context(), operator("MTN"), supply.ImportForm{Kind: linefile.Snapshot, AsOf: asOf}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	if im, err = c.service.Run(t.Context(), im.ID, supply.Source{Open: open}, nil); err != nil || im.State != supply.Finished {
		t.Fatalf("the snapshot ended %s, %v", im.State, err)
	}
}

func (c *randomRun) newClients() []*randomClient {
	operator := []line.Kind{
		line.Assign, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.GiveNotice, line.Park, line.Return, line.Deactivate, line.Use,
		line.End, line.Reinstate, line.ClaimPort, line.ReleasePort,
	}
	all := []*randomClient{
		{supplier: supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN"}, kinds: operator},
		{supplier: supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN"}, kinds: operator},
		{supplier: supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "AIRTEL"}, kinds: operator},
		{supplier: supply.Supplier{Authorities: []line.Authority{line.ClearingHouse}, Client: uuid.New()}, kinds: []line.Kind{line.Port}},
		{supplier: supply.Supplier{Authorities: []line.Authority{line.Sector}, Client: uuid.New()}, kinds: []line.Kind{line.Flag, line.Flag, line.Unflag}},
		{supplier: supply.Supplier{Authorities: []line.Authority{line.Regulator}}, kinds: []line.Kind{line.Bar, line.Unbar, line.Unflag, line.Blacklist, line.Release, line.Release}},
	}
	for i, t := range all {
		t.random, t.name = rand.New(rand.NewPCG(uint64(i), 7)), strconv.Itoa(i)
	}
	return all
}

// report makes one call and counts its results.
func (c *randomRun) report(ctx context.Context, t *randomClient) (int, error) {
	items := make([]supply.Item, 0, supply.MaxEvents)
	for range supply.MaxEvents {
		items = append(items, c.item(t))
	}
	receipt, err := c.service.ApplyEvents(ctx, t.supplier, items, time.Time{})
	waits := int64(0)
	for fault.CodeOf(err) == fault.Unavailable && !errors.Is(err, pg.ErrUnknown) && ctx.Err() == nil {
		waits++ // others hold the numbers; nothing was kept, so the same call is made again, as the contract says
		receipt, err = c.service.ApplyEvents(ctx, t.supplier, items, time.Time{})
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.again += waits
	for i, r := range receipt.Results {
		switch r.Outcome {
		case supply.Duplicate:
			c.duplicates++
		case supply.Refused:
			c.refused++
		default:
			c.accepted++
			c.sum += maphash.String(c.hash, r.ID)
			if t.recent = append(t.recent, items[i]); len(t.recent) > 5000 {
				t.recent = t.recent[2500:]
			}
		}
	}
	return len(items), nil
}

func (c *randomRun) item(t *randomClient) supply.Item {
	r := t.random
	t.n++
	if len(t.recent) > 0 {
		again := t.recent[r.IntN(len(t.recent))]
		switch r.IntN(20) {
		case 0:
			return again
		case 1:
			if again.Voids == "" && t.supplier.Authorities[0] != line.Regulator { // who voids by seq
				again.Type, again.Voids, again.Note, again.Reason, again.Level, again.Network, again.ChurnAt = "VOIDED", again.ID, "sent in error", "", "", "", ""
				again.ID = "event " + t.name + " " + strconv.Itoa(t.n)
				return again
			}
		}
	}
	at := c.from.Add(time.Duration(r.Int64N(int64(364 * 24 * time.Hour)))).UTC()
	if r.IntN(3) == 0 {
		at = at.Truncate(24 * time.Hour) // so that times meet
	}
	kind := t.kinds[r.IntN(len(t.kinds))]
	i := supply.Item{
		ID: "event " + t.name + " " + strconv.Itoa(t.n), PhoneNumber: "+" + strconv.FormatInt(c.base+r.Int64N(c.lines), 10),
		Type: kind.String(), EffectiveAt: at.Format(time.RFC3339),
	}
	switch kind { //nolint:exhaustive // the others say no more
	case line.Bar:
		i.Reason = []string{"NIN", "FRAUD", "LOST"}[r.IntN(3)]
	case line.End:
		i.Reason = []string{"CHURNED", "SURRENDERED"}[r.IntN(2)]
	case line.Flag:
		i.Level = []string{"MEDIUM", "HIGH", "VERY_HIGH"}[r.IntN(3)]
	case line.GiveNotice:
		i.ChurnAt = at.AddDate(0, 0, 15+r.IntN(60)).Format(time.RFC3339)
	case line.Port, line.ReleasePort:
		i.Network = []string{"AIRTEL", "GLO", "MTN"}[r.IntN(3)]
	}
	return i
}

// compare reads every row and compares it with what the simple model makes of its
// history.
func (c *randomRun) compare(t *testing.T) (stored int64, sum uint64, rows int64) {
	t.Helper()
	ctx := t.Context()
	var after phone.Number
	for {
		records, err := line.RowsAfter(ctx, c.service.Pool, after, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			return stored, sum, rows
		}
		numbers, found := make([]phone.Number, len(records)), make(map[phone.Number]line.Row, len(records))
		for i, r := range records {
			numbers[i], found[r.Number] = r.Number, r.Row
		}
		after = numbers[len(numbers)-1]
		histories, err := line.Histories(ctx, c.service.Pool, numbers, found)
		if err != nil {
			t.Fatal(err)
		}
		for n, h := range histories {
			rows++
			stored += int64(len(h.Events))
			for i := range h.Events {
				sum += maphash.String(c.hash, h.Events[i].ID)
			}
			if want := linemodel.Replay(h.Base, h.Events); want != found[n] {
				t.Fatalf("a row is\n%+v, the model makes\n%+v of\n%+v", found[n], want, h.Events)
			}
		}
	}
}
