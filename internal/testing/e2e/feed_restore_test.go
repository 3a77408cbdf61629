package e2e_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// backup is the database at a moment of the run.
type backup struct {
	node    *pgtest.Node
	version []int32 // of each number, at least
}

// step is one backup or restore. It is due when so many changes are written, and writers
// wait for it soon after that.
type step struct {
	due, wait int64
	do        func()
}

// plan spreads backups and restores over the changes. Restores come in threes: to a backup,
// to the same one again, which makes a whole epoch void, and to a later moment of the
// history that the first of them has ended, so that events count again which were void.
func (f *feedFaults) plan(changes, restores int) (steps []step) {
	var first, second backup
	for n := range restores {
		switch n % 3 {
		case 0:
			steps = append(steps, step{do: func() { f.backUp(&first) }}, step{do: func() { f.backUp(&second) }}, step{do: func() { f.restore(&first) }})
		case 1:
			steps = append(steps, step{do: func() { f.restore(&first) }})
		case 2:
			steps = append(steps, step{do: func() { f.restore(&second) }})
		}
	}
	each := int64(changes / (len(steps) + 1))
	for i := range steps {
		steps[i].due = each * int64(i+1)
		steps[i].wait = steps[i].due + each/2
	}
	return steps
}

// backUp makes a backup while writers write. Another one in its place is removed.
func (f *feedFaults) backUp(b *backup) {
	f.t.Helper()
	if b.node != nil {
		b.node.Stop()
	}
	b.node = must(f.pair.primary.BackUp(context.Background(), func() {
		f.gate.Lock()
		defer f.gate.Unlock()
		b.version = append(b.version[:0], f.version...)
	}))(f.t)
	f.t.Cleanup(b.node.Stop)
}

// restore loses the database with both nodes, and does what the how-to about restoring says.
// Afterwards everything is there that was committed at the moment of the backup, and every
// cursor of a lost event is refused.
func (f *feedFaults) restore(b *backup) {
	f.t.Helper()
	lost := f.cursors()
	for _, n := range f.nodes {
		n.Kill()
	}
	f.pair.stop()
	f.gate.Lock() // writers wait from here on, but what they have sent has failed
	defer f.gate.Unlock()
	f.pair.restore(b.node)
	f.command("migrate")
	f.command("journal", "new-epoch", "--reason", "restored by a test")
	f.readVersions()
	for place, version := range b.version {
		if f.version[place] < version {
			f.t.Fatalf("of a number there are %d versions, and %d were committed before the moment of the backup", f.version[place], version)
		}
	}
	f.restored.Add(1)
	for i := range f.nodes {
		f.start(i)
	}
	f.wantRefused(lost)
}

// stop ends both servers of a pair, without their data.
func (p *pair) stop() {
	p.t.Helper()
	for _, n := range []*pgtest.Node{p.primary, p.standby} {
		if err := n.Kill(); err != nil {
			p.t.Fatal(err)
		}
	}
}

// restore puts a backup in the place of a stopped pair.
func (p *pair) restore(b *pgtest.Node) {
	p.t.Helper()
	first, second := p.primary.Port(), p.standby.Port()
	p.primary.Stop()
	p.standby.Stop()
	p.primary, p.standby = must(b.Restore(context.Background(), first))(p.t), nil
	p.copy(second)
}

func (f *feedFaults) command(args ...string) {
	f.t.Helper()
	p := launch(f.t, must(os.Create(filepath.Join(f.t.TempDir(), "command.log")))(f.t), f.w.settings(), args...)
	if !p.ends(f.t, 5*time.Minute) || p.ExitCode() != 0 {
		f.t.Fatalf("%v ended with %d:\n%s", args, p.ExitCode(), p.output(f.t))
	}
}

// readVersions reads how many versions of each number are there. Nobody writes meanwhile.
func (f *feedFaults) readVersions() {
	f.t.Helper()
	process.Until(f.t, "the restored database answers", func() bool {
		clear(f.version)
		rows, err := f.w.pool.Query(f.t.Context(), `SELECT number, max(version) FROM line_change GROUP BY number`)
		if err != nil {
			return false
		}
		defer rows.Close()
		for rows.Next() {
			var number int64
			var version int32
			if err := rows.Scan(&number, &version); err != nil {
				return false
			}
			f.version[number-firstWatched] = version
		}
		return rows.Err() == nil
	})
}

// cursors returns a cursor at the end of the live feed of each bank.
func (f *feedFaults) cursors() (list []string) {
	f.t.Helper()
	for _, h := range f.all {
		process.Until(f.t, "the head of a feed is read", func() bool {
			var epoch, seq int
			var hash []byte
			err := f.w.pool.QueryRow(f.t.Context(), `SELECT epoch, seq, hash FROM feed_head WHERE entity_id = $1 AND mode = 'live'`, h.owner.Entity).Scan(&epoch, &seq, &hash)
			if err == nil {
				list = append(list, fmt.Sprintf("%d-%d-%s", epoch, seq, hex.EncodeToString(hash[:8])))
			}
			return err == nil
		})
	}
	return list
}

// wantRefused fails the test unless cursors of lost events get 409, however the feed is read.
func (f *feedFaults) wantRefused(cursors []string) {
	f.t.Helper()
	refused := 0
	for i, cursor := range cursors {
		for n, path := range []string{"feed?after=", "feed/stream?after="} {
			r := must(http.NewRequestWithContext(f.t.Context(), http.MethodGet, "http://"+f.nodes[n].public+"/api/v1/"+path+cursor, http.NoBody))(f.t)
			r.Header.Set("Authorization", "Bearer "+string(f.keys[i]))
			res, err := (&http.Client{Timeout: patience}).Do(r)
			if err != nil {
				f.t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode == http.StatusConflict {
				refused++
			}
		}
	}
	if refused != 2*len(cursors) {
		f.t.Errorf("of %d cursors of lost events %d were refused", 2*len(cursors), refused)
	}
}
