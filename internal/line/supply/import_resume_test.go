package supply_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// importCase is a file to import, and the state before it.
type importCase struct {
	form    supply.ImportForm
	content string
	first   bool // nothing is known yet
}

// importCases have rows with every possible result.
func importCases() map[string]importCase {
	snapshot := actives(4, 24) // four are missing
	snapshot[0] = number(4) + ",2024-02-03,2026-04-05,PARKED,2026-04-01"
	snapshot[1] = number(5) + ",2026-04-01,,ACTIVE,"
	snapshot[2] = number(6) + ",2024-02-03,,ACTIVE,yesterday"
	snapshot[3] = number(7) + ",2020-01-01,,ACTIVE,"
	snapshot[6] = number(10) + ",2024-02-03,NEVER,ACTIVE," // denies an event
	snapshot = append(snapshot, "", number(8)+",2024-02-03,,PARKED,2026-04-01", "", number(1)+",2024-02-03,,ACTIVE,")
	snapshot = append(snapshot, airtel(8)+",2024-02-03,,ACTIVE,") // waits for its port
	snapshot = append(snapshot, actives(40, 4)...)
	events := []string{
		"a1," + number(4) + ",SIM_CHANGED,2026-05-10,,,,,,",
		"a2," + number(4) + ",PARKED,2026-05-11,,,,,,",
		"a3," + number(5) + ",BARRED,2026-05-12,,,LOST,,,",
		"a4," + airtel(9) + ",ASSIGNED,2026-05-31T11:00:00Z,,,,,,", // not MTN's, and the newest
		"a4w," + airtel(9) + ",USED,2026-05-11T11:00:00Z,,,,,,",    // waits for its port
		"a5," + number(6) + ",USED,2026-05-12,,,,,,",
		"a1," + number(4) + ",SIM_CHANGED,2026-05-10,,,,,,",
		"a1," + number(4) + ",SIM_CHANGED,2026-05-11,,,,,,",
		"a6," + number(7) + ",EXPLODED,2026-05-11,,,,,,",
		"a7," + number(5) + ",VOIDED,2026-05-30,,,,,a3,by mistake",
		"a8," + number(9) + ",ENDED,2026-05-20,,,CHURNED,,,",
		"a9," + number(50) + ",USED,2026-05-20,,,,,,",
	}
	return map[string]importCase{
		"snapshot":       {form: asOf(may), content: snapshotOf(snapshot...)},
		"first snapshot": {form: asOf(may), content: snapshotOf(snapshot...), first: true},
		"first snapshot, read only once": {
			form: supply.ImportForm{Kind: linefile.Snapshot, AsOf: may, Once: true}, content: snapshotOf(snapshot...), first: true,
		},
		"events": {form: supply.ImportForm{Kind: linefile.Events}, content: eventsOf(events...)},
		"events with a time, read only once": {
			form: supply.ImportForm{Kind: linefile.Events, AsOf: may, Once: true}, content: eventsOf(events...),
		},
		"nothing to report": {form: supply.ImportForm{Kind: linefile.Events}, content: eventsHeader},
	}
}

// start prepares the state before a case, and creates its import.
func (k *importEnv) start(s importCase) supply.Import {
	k.t.Helper()
	k.reset()
	if !s.first {
		k.chunk = 0
		rows := actives(0, 30)
		rows[6] = number(6) + ",2024-02-03,,PARKED,2026-02-01"
		k.importFile(asOf(march), snapshotOf(rows...))
		k.port(number(1), "AIRTEL", "2026-04-01")
		for _, n := range []string{airtel(0), airtel(1), airtel(2)} {
			k.wantOutcome(operator("AIRTEL"), k.item(n, "USED 2026-03-01"), "APPLIED")
			k.port(n, "MTN", "2026-04-01")
		}
		k.wantOutcome(operator("MTN"), k.item(number(2), "SIM_CHANGED 2026-05-30"), "APPLIED")
		k.wantOutcome(operator("MTN"), k.item(number(7), "SIM_CHANGED 2026-04-01"), "APPLIED")
		k.wantOutcome(operator("MTN"), k.item(number(10), "SIM_CHANGED 2026-04-02"), "APPLIED")
	}
	k.chunk = 3
	k.eventCount = 0
	return k.create(s.form)
}

// outcome is the content of all tables after an import.
func (k *importEnv) outcome() map[string][]string {
	k.t.Helper()
	all := k.dump(lineTables)
	maps.Copy(all, k.dump(importTables))
	return all
}

// An import that is stopped at any moment and resumed has the same result as an
// undisturbed one.
func TestStoppedImportsResume(t *testing.T) {
	t.Parallel()
	for name, s := range importCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.raiseHoldLimit()
			done := k.run(k.start(s), s.content, supply.Finished)
			want := k.outcome()
			k.wantConsistent()
			if done.Rows > 0 && (done.Counts.Changed+done.Counts.Added == 0 || done.Counts.Refused == 0) {
				t.Fatalf("the case has too few results: %+v", done.Counts)
			}
			stops := 0
			for reads := 1; ; reads++ {
				im := k.start(s)
				_, stopped := k.stopAfter(im, k.source(s.content), reads)
				k.chunk = 2 + reads%3 // of another size than before
				k.run(im, s.content, supply.Finished)
				if diff := cmp.Diff(want, k.outcome()); diff != "" {
					t.Fatalf("stopped at read %d of the clock (-undisturbed +stopped):\n%s", reads, diff)
				}
				if !stopped {
					break
				}
				stops++
			}
			// The same, stopped again and again.
			im := k.start(s)
			for range 100 {
				if _, stopped := k.stopAfter(im, k.source(s.content), 6); !stopped {
					break
				}
				stops++
			}
			if diff := cmp.Diff(want, k.outcome()); diff != "" {
				t.Errorf("stopped again and again (-undisturbed +stopped):\n%s", diff)
			}
			t.Logf("%d stops", stops)
		})
	}
}

func zipped(content string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	return b.String()
}

// differentFiles are files with which an import might be resumed by mistake.
func differentFiles(content string) map[string]string {
	lines := strings.SplitAfter(content, "\n")
	half := strings.Join(lines[:len(lines)/2], "")
	return map[string]string{
		"another":              snapshotHeader + strings.Join(actives(0, 60), "\n"),
		"another of events":    eventsOf("b1," + number(3) + ",USED,2026-05-20,,,,,,"),
		"shorter":              lines[0] + lines[1],
		"only the header":      lines[0],
		"empty":                "",
		"no file of lines":     "%PDF-1.7\n",
		"cut off":              zipped(content)[:40],
		"first row changed":    strings.Replace(content, "2026", "2025", 1),
		"rest is another":      half + strings.ReplaceAll(strings.Join(lines[len(lines)/2:], ""), "+23480", "+23490"),
		"rest is missing":      half,
		"row behind it":        content + active(44, "2024-02-03") + "\n",
		"damaged at the end":   zipped(content)[:len(zipped(content))-4],
		"line breaks exchange": strings.ReplaceAll(content, "\n", "\r\n"),
	}
}

// An import that is resumed with another file fails. Nothing of that file is applied,
// and the import can still be resumed with its own.
func TestStoppedImportsRefuseOtherFiles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		name   string
		place  int      // where the import has come to when it stops
		misses []string // what cannot be distinguished from its own file before it is applied
	}{
		"just checked":   {"snapshot", 0, nil},
		"in the rows":    {"snapshot", 8, nil},
		"events":         {"events", 5, nil},
		"read only once": {"first snapshot, read only once", 8, []string{"rest is another", "rest is missing", "row behind it", "damaged at the end"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := importCases()[c.name]
			k := newImportEnv(t)
			k.raiseHoldLimit()
			k.run(k.start(s), s.content, supply.Finished)
			want := k.outcome()
			im := k.start(s)
			for reads := 1; im.State != supply.Applying || k.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID) < c.place; reads++ {
				var stopped bool
				if im, stopped = k.stopAfter(k.start(s), k.source(s.content), reads); !stopped {
					t.Fatalf("the import does not stop there, it is %s", im.State)
				}
			}
			before := k.outcome()
			for other, content := range differentFiles(s.content) {
				if slices.Contains(c.misses, other) {
					continue
				}
				_, err := k.Run(t.Context(), im.ID, k.source(content), nil)
				if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.Aborted {
					t.Errorf("%s: %v", other, err)
				}
				if diff := cmp.Diff(before, k.outcome()); diff != "" {
					t.Fatalf("%s changed something (-before +after):\n%s", other, diff)
				}
			}
			k.run(im, s.content, supply.Finished)
			if diff := cmp.Diff(want, k.outcome()); diff != "" {
				t.Errorf("-undisturbed +stopped:\n%s", diff)
			}
		})
	}
}

// An import that was held and confirmed is applied only with the file that staff has
// checked, stopped or not.
func TestConfirmedImportsResume(t *testing.T) {
	t.Parallel()
	s := importCases()["snapshot"]
	k := newImportEnv(t)
	confirmed := func() supply.Import {
		im, err := k.Confirm(t.Context(), k.run(k.start(s), s.content, supply.Held).ID, console)
		if err != nil || im.State != supply.Applying || im.Rows != 0 || im.Counts != (supply.Counts{}) {
			t.Fatalf("confirmed: %+v, %v", im, err)
		}
		return im
	}
	k.run(confirmed(), s.content, supply.Finished)
	want := k.outcome()
	im := confirmed()
	before := k.outcome()
	for other, content := range differentFiles(s.content) {
		if _, err := k.Run(t.Context(), im.ID, k.source(content), nil); !isFault(err, fault.Aborted) {
			t.Errorf("%s: %v", other, err)
		}
		if diff := cmp.Diff(before, k.outcome()); diff != "" {
			t.Fatalf("%s changed something (-before +after):\n%s", other, diff)
		}
	}
	for range 100 {
		if _, stopped := k.stopAfter(im, k.source(s.content), 5); !stopped {
			break
		}
	}
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-undisturbed +stopped:\n%s", diff)
	}
}

// If the file changes between check and apply, the import does not finish, and no
// tenure ends because its number is missing.
func TestFilesThatChangeAreNotFinished(t *testing.T) {
	t.Parallel()
	s := importCases()["snapshot"]
	k := newImportEnv(t)
	k.raiseHoldLimit()
	k.run(k.start(s), s.content, supply.Finished)
	want := k.outcome()
	im := k.start(s)
	half, times := s.content[:strings.LastIndex(s.content[:len(s.content)/2], "\n")+1], 0
	changing := supply.Source{Open: func() (io.ReadCloser, error) {
		if times++; times == 1 {
			return io.NopCloser(strings.NewReader(s.content)), nil
		}
		return io.NopCloser(strings.NewReader(half)), nil
	}}.InChunks(k.chunk)
	before := k.coverage()
	if _, err := k.Run(t.Context(), im.ID, changing, nil); !isFault(err, fault.Aborted) || times != 2 {
		t.Errorf("read %d times: %v", times, err)
	}
	if ended := k.count(`SELECT count(*) FROM line_event WHERE kind = $1`, int(line.End)); ended > 0 {
		t.Errorf("%d tenures were ended", ended)
	}
	if diff := cmp.Diff(before, k.coverage()); diff != "" {
		t.Errorf("the coverage has changed:\n%s", diff)
	}
	k.run(im, s.content, supply.Finished)
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-undisturbed +changed:\n%s", diff)
	}
}

// While one process runs an import no other process can. A process that has lost its
// lock without noticing stops at the next chunk.
func TestOneProcessRunsAnImport(t *testing.T) {
	t.Parallel()
	s := importCases()["first snapshot, read only once"]
	k := newImportEnv(t)
	k.run(k.start(s), s.content, supply.Finished)
	want := k.outcome()

	im := k.start(s)
	reads := 0
	d := k.withClock(func() {
		reads++
		if _, err := k.Run(t.Context(), im.ID, k.source(s.content), nil); !isFault(err, fault.Aborted) {
			t.Errorf("a second process can run it: %v", err)
		}
	})
	if done, err := d.Run(t.Context(), im.ID, k.source(s.content), nil); err != nil || done.State != supply.Finished || reads < 10 {
		t.Fatalf("%s after %d reads, %v", done.State, reads, err)
	}
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-alone +beside another:\n%s", diff)
	}

	im = k.start(s)
	taken := false
	d = k.withClock(func() {
		if taken || k.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID) == 0 {
			return
		}
		taken = true
		_, err := k.admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
			WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`, "lineproof import "+im.ID.String())
		if err != nil {
			t.Fatal(err)
		}
		for place := 0; place < 10; { // the lock goes a moment after its connection
			ctx, stop := context.WithCancel(t.Context())
			other := k.withClock(func() {
				if place = k.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID); place >= 10 {
					stop()
				}
			})
			if _, err := other.Run(ctx, im.ID, k.source(s.content), nil); ctx.Err() == nil && !isFault(err, fault.Aborted) {
				t.Fatal(err)
			}
			stop()
		}
	})
	if _, err := d.Run(t.Context(), im.ID, k.source(s.content), nil); !isFault(err, fault.Aborted) || !taken {
		t.Errorf("a process that has lost the import continues: %v", err)
	}
	k.run(im, s.content, supply.Finished)
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-alone +taken over:\n%s", diff)
	}
}

// Staff can cancel an import at any time. What it has applied stays, and its run
// stops.
func TestCancelledImportsStop(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snapshot", "first snapshot, read only once", "events"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := importCases()[name]
			k := newImportEnv(t)
			k.raiseHoldLimit()
			for reads := 1; ; reads += 2 {
				im := k.start(s)
				before := k.coverage()
				left, over := reads, error(nil)
				var then map[string][]string
				d := k.withClock(func() {
					if left--; left == 0 {
						_, over = k.Cancel(t.Context(), im.ID, console)
						then = k.dump(lineTables)
					}
				})
				got, err := d.Run(t.Context(), im.ID, k.source(s.content), nil)
				if left > 0 || over != nil && got.State == supply.Finished {
					break
				}
				now, err2 := k.Import(t.Context(), im.ID)
				if err2 != nil {
					t.Fatal(err2)
				}
				if now.State != supply.Cancelled {
					t.Fatalf("cancelled at read %d, the import is %s, and the run ended %s, %v", reads, now.State, got.State, err)
				}
				if err != nil && !isFault(err, fault.Aborted) {
					t.Fatal(err)
				}
				if diff := cmp.Diff(then, k.dump(lineTables)); diff != "" {
					t.Errorf("cancelled at read %d, the import went on (-then +now):\n%s", reads, diff)
				}
				if diff := cmp.Diff(before, k.coverage()); diff != "" {
					t.Errorf("a cancelled import extended the coverage:\n%s", diff)
				}
				k.wantConsistent()
				if again, err := k.Run(t.Context(), im.ID, k.source(s.content), nil); err != nil || again.State != supply.Cancelled {
					t.Errorf("run again it is %s, %v", again.State, err)
				}
			}
		})
	}
}
