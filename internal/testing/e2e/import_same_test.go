package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sameSupply fails the test for every difference between two fixtures into which
// the same files were imported.
func sameSupply(t *testing.T, want, got *fixture, who string) {
	t.Helper()
	begin, counted := time.Now(), []string{}
	for _, table := range []struct{ name, rows string }{
		// All numbers have as many digits, so they are in the order of their text too.
		// Of a time that follows from when an event was reported, only whether it is
		// there is compared.
		{"line_now", `SELECT number || ' ' || (to_jsonb(l) || jsonb_build_object('doubt_at', doubt_at IS NULL))::text FROM line_now l ORDER BY number`},
		{"line_event", `SELECT row(number, row_number() OVER (PARTITION BY number ORDER BY seq), effective, supplier, import, kind, authority, network, peer,
			code, bits, hold, until, ended_after, base_network, base_state, base_bits, base_import, base_tenure, base_sim, base_since, base_until, event_id,
			note)::text
			FROM line_event ORDER BY number, seq`},
		{"supply_import", `SELECT row(id, network, supplier, kind, as_of, dry_run, state, phase, reason, rows, place, digest, file_digest, added, changed,
			unchanged, ended, duplicates, no_effect, waiting, ported_out, refused)::text FROM supply_import ORDER BY 1`},
		{"supply_coverage", `SELECT row(network, topic, known_since, complete_since, supplied_through, doubtful)::text FROM supply_coverage ORDER BY 1`},
		{"network_lines", `SELECT row(network, lines)::text FROM network_lines ORDER BY 1`},
		{"line_open", `SELECT row(number, outcome, hold, network)::text FROM line_open ORDER BY number, seq`},
		{"supply_day", `SELECT row(network, kind, sum(accepted), sum(refused), sum(late), sum(early))::text FROM supply_day GROUP BY network, kind ORDER BY 1`},
		{"supply_refused", `SELECT r::text FROM supply_refused r ORDER BY r::text COLLATE "C"`},
		{"audit", `SELECT row(action, count(*))::text FROM audit WHERE action LIKE 'import%' GROUP BY action ORDER BY 1`},
	} {
		rows, different, examples := compareRows(t, want, got, table.rows)
		if rows == 0 {
			t.Errorf("%s: %s is empty, so it proves nothing", who, table.name)
		}
		if different > 0 {
			t.Errorf("%s: %d of %d rows of %s are not what they are undisturbed:\n%s", who, different, rows, table.name, examples)
		}
		counted = append(counted, fmt.Sprintf("%d of %s", rows, table.name))
	}
	t.Logf("%s: rows compared in %s: %s", who, time.Since(begin).Round(time.Millisecond), strings.Join(counted, ", "))
}

// compareRows counts the rows that only one of two fixtures has. The statement
// gives them as text, in the order of the text.
func compareRows(t *testing.T, want, got *fixture, statement string) (rows, different int64, examples string) {
	t.Helper()
	next := func(w *fixture) func() (string, bool) {
		from := must(w.pool.Query(t.Context(), statement))(t)
		t.Cleanup(from.Close)
		return func() (text string, more bool) {
			if !from.Next() {
				if err := from.Err(); err != nil {
					t.Fatal(err)
				}
				return "", false
			}
			if err := from.Scan(&text); err != nil {
				t.Fatal(err)
			}
			return text, true
		}
	}
	left, right := next(want), next(got)
	a, moreA := left()
	b, moreB := right()
	note := func(text string) {
		if different++; different <= 5 {
			examples += text + "\n"
		}
	}
	for moreA || moreB {
		rows++
		switch {
		case moreA && moreB && a == b:
			a, moreA = left()
			b, moreB = right()
		case moreA && (!moreB || a < b):
			note("missing " + a)
			a, moreA = left()
		default:
			note("instead " + b)
			b, moreB = right()
		}
	}
	return rows, different, examples
}

// checkLines fails the test if a line does not follow from its events.
func checkLines(t *testing.T, w *fixture) {
	t.Helper()
	p := command(t, w, "lines", "check")
	select {
	case <-p.Ended():
	case <-time.After(time.Hour):
		t.Fatal("the check of all lines does not end")
	}
	if code := p.ExitCode(); code != 0 {
		t.Errorf("the check of all lines ended with %d:\n%s", code, p.output(t))
	}
}
