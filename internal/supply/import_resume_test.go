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

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// scene is a file that an intake takes in, and what it comes upon.
type scene struct {
	form    supply.ImportForm
	content string
	first   bool // nothing is known yet
}

// scenes have everything in them that can become of a row.
func scenes() map[string]scene {
	snapshot := actives(4, 24) // four are missing
	snapshot[0] = number(4) + ",2024-02-03,2026-04-05,PARKED,2026-04-01"
	snapshot[1] = number(5) + ",2026-04-01,,ACTIVE,"
	snapshot[2] = number(6) + ",2024-02-03,,ACTIVE,yesterday"
	snapshot[3] = number(7) + ",2020-01-01,,ACTIVE,"
	snapshot = append(snapshot, "", number(8)+",2024-02-03,,PARKED,2026-04-01", "", number(1)+",2024-02-03,,ACTIVE,")
	snapshot = append(snapshot, actives(40, 4)...)
	events := []string{
		"a1," + number(4) + ",SIM_CHANGED,2026-05-10,,,,,,",
		"a2," + number(4) + ",PARKED,2026-05-11,,,,,,",
		"a3," + number(5) + ",BARRED,2026-05-12,,,LOST,,,",
		"a4," + airtel(9) + ",USED,2026-05-31T11:00:00Z,,,,,,", // not MTN's, and the newest
		"a5," + number(6) + ",RETURNED,2026-05-12,,,,,,",
		"a1," + number(4) + ",SIM_CHANGED,2026-05-10,,,,,,",
		"a1," + number(4) + ",SIM_CHANGED,2026-05-11,,,,,,",
		"a6," + number(7) + ",EXPLODED,2026-05-11,,,,,,",
		"a7," + number(5) + ",VOIDED,2026-05-30,,,,,a3,by mistake",
		"a8," + number(9) + ",ENDED,2026-05-20,,,CHURNED,,,",
		"a9," + number(50) + ",USED,2026-05-20,,,,,,",
	}
	return map[string]scene{
		"snapshot":       {form: asOf(may), content: of(snapshot...)},
		"first snapshot": {form: asOf(may), content: of(snapshot...), first: true},
		"first snapshot, read only once": {
			form: supply.ImportForm{Kind: linefile.Snapshot, AsOf: may, Once: true}, content: of(snapshot...), first: true,
		},
		"events": {form: supply.ImportForm{Kind: linefile.Events}, content: told(events...)},
		"events with a time, read only once": {
			form: supply.ImportForm{Kind: linefile.Events, AsOf: may, Once: true}, content: told(events...),
		},
		"nothing to report": {form: supply.ImportForm{Kind: linefile.Events}, content: eventsHeader},
	}
}

// set prepares what every scene comes upon, and begins its import.
func (k *intake) set(s scene) supply.Import {
	k.t.Helper()
	k.reset()
	if !s.first {
		k.chunk = 0
		rows := actives(0, 30)
		rows[6] = number(6) + ",2024-02-03,,PARKED,2026-02-01"
		k.take(asOf(march), of(rows...))
		k.ported(number(1), "AIRTEL", "2026-04-01")
		for _, n := range []string{airtel(0), airtel(1), airtel(2)} {
			k.says(operator("AIRTEL"), k.written(n, "USED 2026-03-01"), "APPLIED")
			k.ported(n, "MTN", "2026-04-01")
		}
		k.says(operator("MTN"), k.written(number(2), "SIM_CHANGED 2026-05-30"), "APPLIED")
		k.says(operator("MTN"), k.written(number(7), "SIM_CHANGED 2026-04-01"), "APPLIED")
	}
	k.chunk = 3
	k.told = 0
	return k.begin(s.form)
}

// outcome is everything there is after an import.
func (k *intake) outcome() map[string][]string {
	k.t.Helper()
	all := k.dump(tables)
	maps.Copy(all, k.dump(accounts))
	return all
}

// An import that is stopped at any moment and goes on makes the same as one that
// nothing disturbed.
func TestStoppedImportsGoOn(t *testing.T) {
	t.Parallel()
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newIntake(t)
			k.lenient()
			done := k.run(k.set(s), s.content, supply.Finished)
			want := k.outcome()
			k.sound()
			if done.Rows > 0 && (done.Counts.Changed+done.Counts.Added == 0 || done.Counts.Refused == 0) {
				t.Fatalf("the scene is too quiet: %+v", done.Counts)
			}
			stops := 0
			for looks := 1; ; looks++ {
				im := k.set(s)
				_, stopped := k.stoppedAt(im, k.source(s.content), looks)
				k.chunk = 2 + looks%3 // of another size than before
				k.run(im, s.content, supply.Finished)
				if diff := cmp.Diff(want, k.outcome()); diff != "" {
					t.Fatalf("stopped at look %d at the clock (-undisturbed +stopped):\n%s", looks, diff)
				}
				if !stopped {
					break
				}
				stops++
			}
			// The same, stopped again and again.
			im := k.set(s)
			for range 100 {
				if _, stopped := k.stoppedAt(im, k.source(s.content), 6); !stopped {
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

// others are files with which somebody might go on by mistake.
func others(content string) map[string]string {
	lines := strings.SplitAfter(content, "\n")
	half := strings.Join(lines[:len(lines)/2], "")
	return map[string]string{
		"another":              snapshotHeader + strings.Join(actives(0, 60), "\n"),
		"another of events":    told("b1," + number(3) + ",USED,2026-05-20,,,,,,"),
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

// Whoever goes on with another file is told so. Nothing of it is applied, and
// the import can still go on with its own.
func TestStoppedImportsRefuseOtherFiles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		scene  string
		place  int      // where the import has come to when it stops
		misses []string // what cannot be told from its own file before it is applied
	}{
		"just checked":   {"snapshot", 0, nil},
		"in the rows":    {"snapshot", 8, nil},
		"events":         {"events", 5, nil},
		"read only once": {"first snapshot, read only once", 8, []string{"rest is another", "rest is missing", "row behind it", "damaged at the end"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenes()[c.scene]
			k := newIntake(t)
			k.lenient()
			k.run(k.set(s), s.content, supply.Finished)
			want := k.outcome()
			im := k.set(s)
			for looks := 1; im.State != supply.Applying || k.count(`SELECT place FROM supply_import WHERE uid = $1`, im.ID) < c.place; looks++ {
				var stopped bool
				if im, stopped = k.stoppedAt(k.set(s), k.source(s.content), looks); !stopped {
					t.Fatalf("the import does not stop there, it is %s", im.State)
				}
			}
			before := k.outcome()
			for other, content := range others(s.content) {
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

// What was held and then confirmed goes on with the file that staff has looked
// at and no other, stopped or not.
func TestConfirmedImportsGoOn(t *testing.T) {
	t.Parallel()
	s := scenes()["snapshot"]
	k := newIntake(t)
	confirmed := func() supply.Import {
		im, err := k.Confirm(t.Context(), k.run(k.set(s), s.content, supply.Held).ID, console)
		if err != nil || im.State != supply.Applying || im.Rows != 0 || im.Counts != (supply.Counts{}) {
			t.Fatalf("confirmed: %+v, %v", im, err)
		}
		return im
	}
	k.run(confirmed(), s.content, supply.Finished)
	want := k.outcome()
	im := confirmed()
	before := k.outcome()
	for other, content := range others(s.content) {
		if _, err := k.Run(t.Context(), im.ID, k.source(content), nil); !isFault(err, fault.Aborted) {
			t.Errorf("%s: %v", other, err)
		}
		if diff := cmp.Diff(before, k.outcome()); diff != "" {
			t.Fatalf("%s changed something (-before +after):\n%s", other, diff)
		}
	}
	for range 100 {
		if _, stopped := k.stoppedAt(im, k.source(s.content), 5); !stopped {
			break
		}
	}
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-undisturbed +stopped:\n%s", diff)
	}
}

// A file that is another one when it is read for the second time is not taken
// for the one that was checked: no number is missing in it.
func TestFilesThatChangeAreNotFinished(t *testing.T) {
	t.Parallel()
	s := scenes()["snapshot"]
	k := newIntake(t)
	k.lenient()
	k.run(k.set(s), s.content, supply.Finished)
	want := k.outcome()
	im := k.set(s)
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
		t.Errorf("the coverage has moved:\n%s", diff)
	}
	k.run(im, s.content, supply.Finished)
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-undisturbed +changed:\n%s", diff)
	}
}

// While one process works on an import no other one can, and one that has lost
// its hold of it without knowing stops at the next chunk.
func TestOneProcessWorksOnAnImport(t *testing.T) {
	t.Parallel()
	s := scenes()["first snapshot, read only once"]
	k := newIntake(t)
	k.run(k.set(s), s.content, supply.Finished)
	want := k.outcome()

	im := k.set(s)
	looks := 0
	d := k.clocked(func() {
		looks++
		if _, err := k.Run(t.Context(), im.ID, k.source(s.content), nil); !isFault(err, fault.Aborted) {
			t.Errorf("a second process may work on it: %v", err)
		}
	})
	if done, err := d.Run(t.Context(), im.ID, k.source(s.content), nil); err != nil || done.State != supply.Finished || looks < 10 {
		t.Fatalf("%s after %d looks, %v", done.State, looks, err)
	}
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-alone +beside another:\n%s", diff)
	}

	im = k.set(s)
	taken := false
	d = k.clocked(func() {
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
			other := k.clocked(func() {
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
		t.Errorf("a process that has lost the import goes on: %v", err)
	}
	k.run(im, s.content, supply.Finished)
	if diff := cmp.Diff(want, k.outcome()); diff != "" {
		t.Errorf("-alone +taken over:\n%s", diff)
	}
}

func isFault(err error, code fault.Code) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == code
}

// Staff can end an import at any time. What it has applied stays, and whoever
// works on it stops.
func TestCancelledImportsStop(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snapshot", "first snapshot, read only once", "events"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenes()[name]
			k := newIntake(t)
			k.lenient()
			for looks := 1; ; looks += 2 {
				im := k.set(s)
				before := k.coverage()
				left, over := looks, error(nil)
				var then map[string][]string
				d := k.clocked(func() {
					if left--; left == 0 {
						_, over = k.Cancel(t.Context(), im.ID, console)
						then = k.dump(tables)
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
					t.Fatalf("cancelled at look %d, the import is %s, and the run ended %s, %v", looks, now.State, got.State, err)
				}
				if err != nil && !isFault(err, fault.Aborted) {
					t.Fatal(err)
				}
				if diff := cmp.Diff(then, k.dump(tables)); diff != "" {
					t.Errorf("cancelled at look %d, the import went on (-then +now):\n%s", looks, diff)
				}
				if diff := cmp.Diff(before, k.coverage()); diff != "" {
					t.Errorf("a cancelled import moved the coverage:\n%s", diff)
				}
				k.sound()
				if again, err := k.Run(t.Context(), im.ID, k.source(s.content), nil); err != nil || again.State != supply.Cancelled {
					t.Errorf("run again it is %s, %v", again.State, err)
				}
			}
		})
	}
}
