package erasure_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// With the records about a number, the events about it are erased from the feeds, its timer,
// and what waits because it is sealed; not those of an organisation that is under a hold. After a restore everything that
// was erased is erased again.
func TestFeedsForgetANumberToo(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	d.Feeds = &feed.Archive{Pool: d.Archiver.Pool, Files: files, Now: time.Now}
	bank, keeper := feed.Owner{Entity: uuid.New(), Mode: "live"}, feed.Owner{Entity: held, Mode: "live"}
	about := func(n int64) feed.Event {
		number, _ := phone.FromInt(n)
		return feed.Event{Type: "line.v1.swapped", Number: number, Time: time.Now(), Data: map[string]string{"phoneNumber": number.E164()}}
	}
	for _, o := range []feed.Owner{bank, keeper} {
		d.exec(t, `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at) VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, o.Entity)
		if err := pg.InTx(t.Context(), d.super, func(tx pg.Tx) error { return feed.Append(t.Context(), tx, o, about(person), about(other)) }); err != nil {
			t.Fatal(err)
		}
	}
	d.exec(t, `INSERT INTO line_timer (number, due) VALUES ($1, 0), ($2, 0)`, int64(person), int64(other))
	d.exec(t, `INSERT INTO sealed_change (n, number, reported_at, import, kind, network, correction, feed) VALUES (1, $1, now(), 0, 1, 1, false, true), (2, $2, now(), 0, 1, 1, false, true)`, int64(person), int64(other))
	if _, err := d.PlaceHold(t.Context(), 0, held, "order of the Federal High Court, case 2", audit.Actor{Kind: audit.Operator}); err != nil {
		t.Fatal(err)
	}
	d.exec(t, `CREATE TABLE backup AS SELECT * FROM feed_entry`)
	check := func(what string) {
		t.Helper()
		for o, want := range map[feed.Owner]int{bank: 1, keeper: 2} {
			var bodies int
			if err := d.super.QueryRow(t.Context(), `SELECT count(body) FROM feed_entry WHERE entity_id = $1`, o.Entity).Scan(&bodies); err != nil || bodies != want {
				t.Errorf("%s: %d events are left, want %d: %v", what, bodies, want, err)
			}
		}
	}
	if _, err := d.Run(t.Context(), d.order(t, erasure.Order{Number: person, Ground: erasure.Request})); err != nil {
		t.Fatal(err)
	}
	check("erased")
	for _, table := range []string{"line_timer", "sealed_change"} {
		var left int64
		if err := d.super.QueryRow(t.Context(), `SELECT sum(number)::bigint FROM `+table).Scan(&left); err != nil || left != other {
			t.Errorf("the numbers that are left in %s sum up to %d, %v", table, left, err)
		}
	}
	d.exec(t, `DELETE FROM feed_entry`)
	d.exec(t, `INSERT INTO feed_entry SELECT * FROM backup`)
	if _, err := d.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("erased again")
}
