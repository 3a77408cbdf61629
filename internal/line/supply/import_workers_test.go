package supply_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// bomb returns a small file of events with many short lines, all of which are
// rejected.
func bomb(t *testing.T, lines int) string {
	t.Helper()
	return packed(t, eventsHeader+strings.Repeat("x\n", lines))
}

// packed compresses a text with zstd.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(z, text)
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// startImports runs imports in the background until the test ends or calls stop,
// which waits until they have stopped.
func (o *receiveEnv) startImports() (stop func()) {
	o.t.Helper()
	ctx, cancel := context.WithCancel(o.t.Context())
	var running sync.WaitGroup
	running.Go(func() { o.RunImports(ctx, o.log) })
	stop = func() {
		cancel()
		running.Wait()
	}
	o.t.Cleanup(stop)
	return stop
}

// await waits until a condition holds, at most for a time.
func (o *receiveEnv) await(what string, most time.Duration, holds func() bool) {
	o.t.Helper()
	for deadline := time.After(most); !holds(); {
		select {
		case <-deadline:
			o.t.Fatalf("after %v: not %s", most, what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (o *receiveEnv) rows(im supply.Import) int {
	return o.count(`SELECT rows FROM supply_import WHERE uid = $1`, im.ID)
}

// A small file that compresses millions of useless rows does not delay the file of
// another network.
func TestBombDelaysNobody(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	harmful := o.receive("MTN", supply.ImportForm{Kind: linefile.Events}, bomb(t, 5_000_000))
	o.startImports()
	o.await("processing the bomb", time.Minute, func() bool { return o.rows(harmful) > 0 })
	sent := time.Now()
	one := o.receive("AIRTEL", asOf(march), snapshotOf(airtels(0, 1)...))
	o.await("applied", 10*time.Second, func() bool { return o.state(one) == supply.Finished })
	t.Logf("a file of one row was applied %v after it was sent, beside a bomb of %d bytes", time.Since(sent).Round(time.Millisecond), harmful.Bytes)
	if state := o.state(harmful); state != supply.Checking && state != supply.Applying {
		t.Errorf("the bomb was %s before the other file was applied, so it could not delay it", state)
	}
}

// A chunk that waits, here for a number that somebody else has locked, neither delays the
// file of another network nor the end of the process.
func TestSlowChunkDelaysNobody(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	o.wantOutcome(operator("MTN"), o.event(number(1), "ASSIGNED", 20), "APPLIED")
	slow := o.receive("MTN", supply.ImportForm{Kind: linefile.Events}, eventsOf(fmt.Sprintf("e,%s,SIM_CHANGED,%s,,,,,,", number(1), o.at(10).Format(time.RFC3339))))
	locking, err := o.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locking.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := locking.Exec(t.Context(), `SELECT FROM line_now WHERE number = $1 FOR UPDATE`, o.parse(number(1)).Int()); err != nil {
		t.Fatal(err)
	}
	stop := o.startImports()
	o.await("waiting for the number", time.Minute, func() bool {
		return o.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'tuple' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) > 0
	})
	one := o.receive("AIRTEL", asOf(march), snapshotOf(airtels(0, 1)...))
	// The lock is never released, so any bound shows it. How long it takes is measured beside the bomb above.
	o.await("applied", time.Minute, func() bool { return o.state(one) == supply.Finished })
	if state := o.state(slow); state != supply.Checking && state != supply.Applying {
		t.Errorf("the file that waits is %s", state)
	}
	stopped := time.Now()
	stop()
	if took := time.Since(stopped); took > time.Minute {
		t.Errorf("the imports stopped after %v", took)
	}
}

// The files of several networks progress together, and none is left behind.
func TestImportsProgressTogether(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	const lines = 150_000
	var all []supply.Import
	for _, network := range []string{"MTN", "AIRTEL", "GLO"} {
		all = append(all, o.receive(network, supply.ImportForm{Kind: linefile.Events}, bomb(t, lines)))
	}
	stop := o.startImports()
	o.await("all applying", 5*time.Minute, func() bool {
		return o.count(`SELECT count(*) FROM supply_import WHERE state = 'applying' AND rows > 0`) == len(all)
	})
	first := all[0]
	before := make([]int, len(all))
	for i, im := range all {
		before[i] = o.rows(im)
	}
	o.await("further", 5*time.Minute, func() bool { return o.rows(first) >= before[0]+20_000 })
	for i, im := range all[1:] {
		if done := o.rows(im) - before[i+1]; done < 10_000 {
			t.Errorf("while the first network's file progressed by 20,000 rows, that of network %d did by %d", im.Network, done)
		}
	}
	// Stopped and started again, all of them are finished.
	stop()
	for _, im := range all {
		o.wantState(im, supply.Applying)
	}
	o.startImports()
	o.await("all finished", 5*time.Minute, func() bool {
		return o.count(`SELECT count(*) FROM supply_import WHERE state = 'applied' AND rows = $1 AND refused = $1`, lines) == len(all)
	})
}

// A file beyond a limit is rejected with the reason, and nothing of it is applied.
func TestImportLimits(t *testing.T) {
	t.Parallel()
	rows := snapshotOf(actives(0, 30)...)
	for name, c := range map[string]struct {
		limits  supply.ImportLimits
		kind    linefile.Kind
		content string
		want    string
	}{
		"rows":              {supply.ImportLimits{Rows: 29}, linefile.Snapshot, rows, "The file has more than 29 lines"},
		"as many rows":      {supply.ImportLimits{Rows: 30}, linefile.Snapshot, rows, ""},
		"empty lines":       {supply.ImportLimits{Rows: 5000}, linefile.Events, eventsHeader + strings.Repeat("\n", 6000), "The file has more than 5000 lines"},
		"time of the check": {supply.ImportLimits{CheckTime: time.Millisecond}, linefile.Events, bomb(t, 300_000), "The check of the file was not finished after 1ms"},
		"enough time":       {supply.ImportLimits{CheckTime: 168 * time.Hour}, linefile.Snapshot, rows, ""},
		"decompressed size": {supply.ImportLimits{}, linefile.Events, packed(t, eventsHeader+strings.Repeat(strings.Repeat("x", 1000)+"\n", 20_000)), "times as large"},
		"one line":          {supply.ImportLimits{}, linefile.Events, packed(t, eventsHeader+strings.Repeat("x", 20<<20)), "times as large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newReceiveEnv(t)
			o.Limits = c.limits
			form := asOf(march)
			if c.kind == linefile.Events {
				form = supply.ImportForm{Kind: linefile.Events}
			}
			im := o.receive("MTN", form, c.content)
			o.runOnce()
			im, err := o.Import(t.Context(), im.ID)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && im.State != supply.Finished:
				t.Errorf("%s: %s", im.State, im.Reason)
			case c.want != "" && (im.State != supply.Rejected || !strings.Contains(im.Reason, c.want)):
				t.Errorf("%s: %s, want: %s", im.State, im.Reason, c.want)
			case c.want != "":
				t.Log(im.Reason)
				o.wantFiles(0)
				if o.count(`SELECT count(*) FROM line_now`) != 0 {
					t.Error("part of the file is applied")
				}
			}
		})
	}
}

// The limits are those of files that are sent to the API.
func TestCommandHasNoImportLimits(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.Limits = supply.ImportLimits{Rows: 1, CheckTime: 1}
	k.importFile(asOf(march), snapshotOf(actives(0, 30)...))
}
