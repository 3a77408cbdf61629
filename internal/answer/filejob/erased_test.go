package filejob_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// erased is the number that is erased in this test.
const erased = 2348030000003

// distribution is everything that passes on what is known about a number.
type distribution struct {
	*env

	archive *feed.Archive
	feed    *feed.Service
	old     time.Time // a day of which the feed is a segment
	job     uuid.UUID // that has ended
}

func newDistribution(t *testing.T) *distribution {
	t.Helper()
	e := newEnv(t, 10)
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	d := &distribution{
		env: e, archive: &feed.Archive{Pool: e.super, Files: files, Now: time.Now}, feed: &feed.Service{Pool: e.super, Now: time.Now},
		old: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -100), job: e.send(fileOf(5)),
	}
	e.finish(d.job)
	d.tell()
	e.exec(`SELECT journal_make_day($1)`, d.old)
	e.exec(`UPDATE feed_entry SET at = $1`, d.old.Add(time.Hour))
	if _, err := d.archive.Archive(t.Context(), d.old); err != nil {
		t.Fatal(err)
	}
	d.tell()
	e.exec(`INSERT INTO line_timer (number, due) VALUES ($1, 0), ($1 + 1, 0)`, int64(erased))
	return d
}

// tell writes a change of the number, and of another, to the outbox and to the feed of the bank.
func (d *distribution) tell() {
	d.t.Helper()
	for i := range int64(2) {
		n, _ := phone.FromInt(erased + i)
		if err := pg.InTx(d.t.Context(), d.super, func(tx pg.Tx) error {
			if err := outbox.Append(d.t.Context(), tx, outbox.Change{Number: n, Version: 2, Kind: outbox.Swapped, ReportedAt: time.Now()}); err != nil {
				return err
			}
			return feed.Append(d.t.Context(), tx, feed.Owner(d.bank), feed.Event{Type: "line.v1.swapped", Number: n, Time: time.Now(), Data: map[string]string{"phoneNumber": n.E164()}})
		}); err != nil {
			d.t.Fatal(err)
		}
	}
	d.exec(`UPDATE outbox_mark SET n = (SELECT max(n) FROM line_change)`) // everybody has read it
}

// places returns where a number is, of feed, segment, timer, outbox and file job.
func (d *distribution) places(number int64) (in []string) {
	d.t.Helper()
	n, _ := phone.FromInt(number)
	entries, err := d.feed.After(d.t.Context(), feed.Owner(d.bank), 2, 10)
	if err != nil || len(entries) != 2 {
		d.t.Fatalf("the feed has %d entries: %v", len(entries), err)
	}
	for i := range entries {
		if bytes.Contains(entries[i].JSON(), []byte(n.E164())) {
			in = append(in, "feed")
		}
	}
	if err := d.archive.Read(d.t.Context(), d.old, func(r *feed.Row) error { // it checks the chain
		if r.Number == number || bytes.Contains(r.Body, []byte(n.E164())) {
			in = append(in, "segment")
		}
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
	for table, place := range map[string]string{"line_timer": "timer", "line_change": "outbox"} {
		var found bool
		if err := d.super.QueryRow(d.t.Context(), `SELECT EXISTS (SELECT FROM `+table+` WHERE number = $1)`, number).Scan(&found); err != nil {
			d.t.Fatal(err)
		}
		if found {
			in = append(in, place)
		}
	}
	if _, err := d.Result(d.t.Context(), d.bank, d.job); fault.CodeOf(err) == fault.Gone {
		return in
	}
	for _, line := range d.result(d.job) {
		if strings.HasSuffix(line["phoneNumber"], n.E164()[len("+234"):]) { // as it was sent
			in = append(in, "file job")
		}
	}
	return in
}

// An erased number is gone from the feed, the segments, the timers, the outbox and the
// results of file jobs, by one order; another number stays, except that the
// whole result is deleted.
func TestErasedNumberIsToldNowhere(t *testing.T) {
	t.Parallel()
	d := newDistribution(t)
	everywhere := []string{"feed", "file job", "outbox", "segment", "timer"}
	for i := range int64(2) {
		if in := slices.Sorted(slices.Values(d.places(erased + i))); !slices.Equal(in, everywhere) {
			t.Fatalf("before the erasure number %d is in %v", i, in)
		}
	}
	d.erase()
	if err := d.CleanUp(t.Context()); err != nil { // as between two jobs
		t.Fatal(err)
	}
	if in := d.places(erased); len(in) > 0 {
		t.Errorf("after the erasure it is in %v", in)
	}
	if in := slices.Sorted(slices.Values(d.places(erased + 1))); !slices.Equal(in, []string{"feed", "outbox", "segment", "timer"}) {
		t.Errorf("after the erasure another number is in %v", in)
	}
}

// erase orders the erasure of the number by two people, and runs it.
func (d *distribution) erase() {
	d.t.Helper()
	var people [2]audit.Actor
	for i := range people {
		people[i] = audit.Actor{Kind: audit.Account, ID: uuid.New()}
		d.exec(`INSERT INTO account (id, kind, role, name, email, email_key, verified_at, verified_by, created_at) VALUES ($1, 'staff', 'administrator', 'A', $2, $2, now(), 'email', now())`,
			people[i].ID, people[i].ID.String()+"@regulator.example")
	}
	files, err := blob.OpenDir(d.t.TempDir())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = files.Close() })
	id, waits, err := (&erasure.Service{Pool: d.Pool, Now: time.Now}).Request(d.t.Context(), erasure.Order{Number: erased, Ground: erasure.Request, By: people[0], Reason: "case 1"})
	if err != nil {
		d.t.Fatal(err)
	}
	approvals := &approval.Service{Pool: d.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: erasure.Effects(), Now: time.Now}
	if _, err := approvals.Confirm(d.t.Context(), waits, people[1], uuid.Nil); err != nil {
		d.t.Fatal(err)
	}
	runner := &erasure.Runner{Archiver: &journal.Archiver{Pool: d.super, Files: files, Now: time.Now}, Feeds: d.archive}
	if order, err := runner.Run(d.t.Context(), id); err != nil || order.State != erasure.Finished {
		d.t.Fatalf("%+v, %v", order, err)
	}
}
