package e2e_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// However often the importing process is killed, and at whatever point: the result
// is that of an undisturbed import, row by row. The command resumes when it is run
// again, the server by itself.
func TestImportKill(t *testing.T) {
	rows, kills := int64(size(t, "LINEPROOF_E2E_IMPORT_ROWS", 60_000)), size(t, "LINEPROOF_E2E_IMPORT_KILLS", 2)
	database := startDurable(t)
	limit := 10*time.Minute + time.Duration(rows)*time.Millisecond
	calm := &importRun{t: t, fixture: newSupplier(t, database()), limit: limit}
	files := supplyFiles(t, calm.fixture, rows)
	calm.byCommand()
	for i, f := range files {
		calm.take(i, f, 0)
		t.Logf("undisturbed, file %d (%s): %d rows, checked in %s, applied in %s", i+1, f.kind, calm.paces[i].rows,
			calm.paces[i].check.Round(time.Millisecond), (calm.paces[i].apply + calm.paces[i].rest).Round(time.Millisecond))
	}
	checkLines(t, calm.fixture)

	for _, of := range []struct {
		name string
		set  func(*importRun)
	}{{"the command", (*importRun).byCommand}, {"the server", (*importRun).byServer}} {
		s := &importRun{t: t, fixture: newSupplier(t, database()), limit: limit, paces: calm.paces, hits: make(map[string]int)}
		of.set(s)
		planned, left := 0, 0
		for i, f := range files {
			n := kills
			if i > 0 {
				n = max(3, kills/5)
			}
			begin := time.Now()
			planned += n
			left = s.take(i, f, n+left)
			t.Logf("%s, file %d (%s): taken in after %s; so far killed %d times in the middle of it: %v", of.name, i+1, f.kind,
				time.Since(begin).Round(time.Millisecond), planned-left, s.hits)
		}
		// When to kill is taken from the undisturbed run, so that on a machine whose
		// speed changes some kills come too late.
		if left > planned/2 || s.hits["checking"] == 0 || s.hits["applying"] == 0 {
			t.Errorf("%s: %d of %d kills met no running import, so the rest prove too little: %v", of.name, left, planned, s.hits)
		}
		t.Logf("%s came %d times before PostgreSQL knew that the one before was dead", of.name, s.busy)
		s.end()
		sameSupply(t, calm.fixture, s.fixture, of.name)
		checkLines(t, s.fixture)
	}
}

// newSupplier returns a fixture without any line.
func newSupplier(t *testing.T, url string) *fixture {
	t.Helper()
	w := newFixture(t, url)
	if _, err := w.pool.Exec(t.Context(), `TRUNCATE line_now, line_open, supply_coverage, supply_coverage_history, network_lines`); err != nil {
		t.Fatal(err)
	}
	return w
}

// supplyFiles returns what Cobalt sends: all its lines, all its lines some days
// later, and events. Some rows are duplicates and some belong to other
// networks; in the second snapshot some are missing and some have changed.
func supplyFiles(t *testing.T, w *fixture, rows int64) []supplyFile {
	t.Helper()
	const day = 24 * time.Hour
	now := time.Now().UTC().Truncate(time.Second)
	first, second := now.Add(-30*day), now.Add(-20*day)
	nation := w.nation(t, "COBALT", rows, first)
	changed := ",INACTIVE," + second.Add(-day).Format(time.RFC3339) + "\n"
	// The times of rejected rows do not affect how far the supply reaches.
	stranger := "x,+2348020000001,SIM_CHANGED," + now.Add(-time.Hour).Format(time.RFC3339) + ",,\n"
	spoiled := func(more func(i int, row string) string) func(i int, row string) string {
		var once string
		return func(i int, row string) string {
			switch {
			case i == 1:
				once = row
			case i > 1 && i%1000 == 7:
				return row + once
			case i > 1 && i%1000 == 13:
				return row + strings.Replace(row, "+234803", "+234802", 1)
			}
			return more(i, row)
		}
	}
	return []supplyFile{
		newSupplyFile(t, "snapshot", first, nation.Snapshot, spoiled(func(_ int, row string) string { return row })),
		newSupplyFile(t, "snapshot", second, nation.Snapshot, spoiled(func(i int, row string) string {
			switch {
			case i > 1 && i%40 == 3:
				return ""
			case i > 1 && i%30 == 5:
				return strings.Replace(row, ",ACTIVE,\n", changed, 1)
			}
			return row
		})),
		newSupplyFile(t, "events", time.Time{}, func(to io.Writer) error {
			return nation.Changes(to, max(rows/5, 1), second, now.Add(-8*day), false)
		}, spoiled(func(i int, row string) string {
			if i == 2 {
				return row + stranger
			}
			return row
		})),
	}
}

// aim is when to kill: in which part of the import, and how far into it.
type aim struct {
	in    string // checking, applying, or resting: when all rows are in
	part  float64
	early bool // possibly while rows that are already imported are skipped
}

// aims distributes the kills over the import. The first ones are while the file is
// being checked, which starts over after each of them.
func aims(kills int, rests bool) []aim {
	var all []aim
	checks := (kills + 2) / 4
	for i := range checks {
		a := aim{in: "checking", part: 0.6 * rand.Float64()}
		if i == 0 {
			a.part = 0 // for it may be short
		}
		all = append(all, a)
	}
	rows := kills - checks
	if rests && rows > 1 {
		rows--
	}
	for i := range rows {
		all = append(all, aim{in: "applying", part: 0.9 * (float64(i) + rand.Float64()) / float64(rows), early: i%5 == 4})
	}
	if len(all) < kills {
		all = append(all, aim{in: "resting", part: 0.5 * rand.Float64()})
	}
	return all
}

// reached reports whether it is time to kill, by the times of an undisturbed import.
func (a aim) reached(so *progress, p pace) bool {
	if !so.running {
		return false
	}
	after := func(since time.Time, whole time.Duration) float64 { return float64(time.Since(since)) / float64(whole) }
	switch {
	case a.in == "checking":
		return so.state == "applying" || after(so.began, p.check) >= a.part
	case so.state != "applying":
		return false
	case a.in == "resting":
		return so.rows >= p.rows && after(so.moved, p.rest) >= a.part
	}
	sofar, since := float64(so.rows)/float64(p.rows), so.moved
	if since.Equal(so.began) && !a.early {
		since = since.Add(time.Duration(sofar * float64(p.check))) // so long it reads what is in already
	}
	return sofar+max(after(since, p.apply), 0) >= a.part
}

// label describes when a kill happened.
func (so *progress) label(p pace) string {
	if so.state == "applying" && so.rows >= p.rows {
		return "resting"
	}
	return so.state
}

// take imports one file while the importing process is killed the given number of
// times. It returns how many kills were left when the import had finished.
func (s *importRun) take(n int, f supplyFile, kills int) (left int) {
	s.t.Helper()
	deadline := time.Now().Add(s.limit)
	var list []aim
	if kills > 0 {
		list = aims(kills, n == 1)
	}
	p := s.begin(f)
	so := &progress{}
	for {
		s.look(n, so)
		if so.over() {
			break
		}
		select {
		case <-p.Ended():
			s.look(n, so)
			if so.over() {
				continue
			}
			if !strings.Contains(p.output(s.t), "Another process is running this import") {
				s.t.Fatalf("file %d: it ended with %d while the import is %s:\n%s", n+1, p.ExitCode(), so, p.output(s.t))
			}
			// PostgreSQL has not noticed yet that the previous process has ended.
			s.busy++
			<-time.After(20 * time.Millisecond)
			p = s.again(f, so)
			continue
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("file %d: the import is %s and does not end:\n%s", n+1, so, p.output(s.t))
		}
		if len(list) == 0 || !list[0].reached(so, s.paces[n]) {
			<-time.After(2 * time.Millisecond)
			continue
		}
		p.Kill()
		s.look(n, so)
		if so.over() {
			p = s.again(f, so) // too late
			break
		}
		s.hits[so.label(s.paces[n])]++
		list = list[1:]
		p = s.again(f, so)
	}
	if so.state != "applied" {
		s.t.Fatalf("file %d: the import ended %s:\n%s", n+1, so.state, p.output(s.t))
	}
	if err := s.finished(p, so); err != nil {
		s.t.Fatalf("file %d: %v", n+1, err)
	}
	if s.hits == nil {
		s.paces = append(s.paces, so.pace())
	}
	return len(list)
}
