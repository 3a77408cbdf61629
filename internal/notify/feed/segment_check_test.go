package feed_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
)

// A check finds whatever is missing or altered in any feed, also where one day follows
// another: a whole archived day, the oldest one, entries of the database, and the newest ones.
// Days whose keys have lapsed are not missing.
func TestChainsAreCheckedAcrossDays(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"nothing":             `SELECT`,
		"an archived day":     `DELETE FROM feed_segment WHERE day = (SELECT max(day) FROM feed_segment)`,
		"the oldest day":      `DELETE FROM feed_segment WHERE day = (SELECT min(day) FROM feed_segment)`,
		"a day swapped":       `UPDATE feed_entry SET hash = sha256('x') WHERE seq = 4`,
		"the first of a day":  `DELETE FROM feed_entry WHERE seq = 4`,
		"the newest":          `DELETE FROM feed_entry WHERE seq = 5`,
		"the head":            `UPDATE feed_head SET hash = sha256('x') WHERE seq = 5`,
		"an event altered":    `UPDATE feed_entry SET body = body || '\x20' WHERE seq = 5`,
		"a day that is empty": `DELETE FROM feed_entry`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newArchiveEnv(t)
			o, quiet := e.bank(), e.bank()
			e.told(o, 100, 2348030000001, 2348030000002)
			e.told(quiet, 100, 2348030000001)
			e.told(o, 95, 2348030000003)
			e.told(o, 1, 2348030000004, 2348030000005)
			e.archive(time.Now().AddDate(0, 0, -90))
			e.exec(damage)
			c, err := e.Check(t.Context())
			switch {
			case name != "nothing" && err == nil:
				t.Errorf("it is not found: %+v", c)
			case name == "nothing" && (err != nil || c.Segments != 2 || c.Entries != 6 || c.Feeds != 2):
				t.Errorf("checked %+v, %v", c, err)
			}
			if name != "nothing" {
				return
			}
			if n, err := e.Lapse(t.Context(), time.Now().AddDate(0, 0, -97)); n != 1 || err != nil {
				t.Fatalf("%d lapsed, %v", n, err)
			}
			if c, err := e.Check(t.Context()); err != nil || c != (feed.Checked{Segments: 1, Lapsed: 1, Days: c.Days, Entries: 3, Feeds: 1}) {
				t.Errorf("after a day has lapsed: %+v, %v", c, err)
			}
		})
	}
}
