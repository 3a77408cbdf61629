package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// After the loss of a server, what the page about restoring says brings back
// every answer that was given before the chosen moment, once and as it was told,
// and none from after it, with the documents; the checks find nothing; the public
// log goes on from what was published and names what is lost; and the service
// goes on under an epoch that was never used before, here or on the lost server.
func TestRestore(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_PGBACKREST") == "" {
		t.Skip("needs pgBackRest; run with make pgbackrest, and nightly")
	}
	d := newDrill(t)
	w := newFixture(t, d.lost.URL("lineproof"))
	d.plant(w, size(t, "LINEPROOF_E2E_LINES", 1000))
	l := newRestoredLog(t, w)
	p := start(t, w, l.settings...)
	while := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 2)) * time.Second

	// Under load, two backups; then some more of it.
	before, after := newLedger(t), newLedger(t)
	d.load(w, p, before, func() { pause(while / 2); d.backUp("full") })
	kept := d.upload(w, p, 5)
	d.load(w, p, before, func() { pause(while / 2); d.backUp("incr") })
	var moment string
	d.read(w, `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00')`, &moment)
	later := d.upload(w, p, 3)
	d.load(w, p, after, func() { pause(while) })
	pause(2 * time.Second) // the answers are published
	published, told := l.published(p), before.read(t)
	first, lost := answersOf(told), answersOf(after.read(t))
	if n := tally(told); len(first) < 20 || n["onboard ok"] == 0 || len(lost) < 10 {
		t.Fatalf("there was no load, so this proves nothing: %v, and %d answers after the moment", n, len(lost))
	}
	oldReceipt, lostReceipt := l.receipt(p, first[0]), l.receipt(p, lost[0])
	// Then nodes start; more often than the counter may be ahead in the log.
	var used int64
	d.read(w, `SELECT max(nextval('journal_epoch')) FROM generate_series(1, 40)`, &used)
	d.replace["/var/lib/lineproof"] = w.data
	d.follow(nil, nil, "cp --archive --update")
	d.lose(w, p)

	d.newMachine()
	d.replace["2026-11-14 09:30:00.000000+00"], d.replace["/etc/lineproof/log-policy"] = moment, l.file
	began := time.Now()
	d.follow(d.as, nil, "--type=time")
	took := time.Since(began)
	restored := *w
	restored.data = filepath.Join(d.dir, "files")
	d.replace["/var/lib/lineproof"] = restored.data
	said := d.follow(nil, append(l.settings, "LINEPROOF_DATA="+restored.data), "journal new-epoch")
	t.Logf("restored in %s; the commands after it print\n%s", took.Round(10*time.Millisecond), said)
	restored.pool = pgtest.Open(t, restored.url, "")

	report(t, &checker{world: &restored, book: told})
	var there int
	d.read(&restored, fmt.Sprintf(`SELECT count(*) FROM journal_entry WHERE request_id::text IN ('%s')`, strings.Join(lost, "','")), &there)
	if there != 0 {
		t.Errorf("of %d answers from after the moment %d are there", len(lost), there)
	}
	d.read(&restored, fmt.Sprintf(`SELECT count(*) FILTER (WHERE id::text IN ('%s')) * 1000 + count(*) FROM document`, strings.Join(kept, "','")), &there)
	stored := fmt.Sprintf("documents %d files %d ", len(kept), len(kept)+len(later))
	if there != len(kept)*1000+len(kept) || !strings.Contains(strings.Join(strings.Fields(said), " "), stored) {
		t.Errorf("of %d documents there are %d; want %s", len(kept), there, stored)
	}
	var back int64
	if _, err := fmt.Sscanf(between(said, "last epoch before", "\n"), "%d", &back); err != nil || back >= used {
		t.Errorf("the counter came back at %d (%v), which is not below the %d that was used, so this proves nothing", back, err, used)
	}

	l.w = &restored
	next := start(t, &restored, l.settings...)
	defer func() {
		if t.Failed() {
			for _, line := range next.lines(t) {
				if line.Message != "request" {
					t.Logf("%+v", line)
				}
			}
		}
	}()
	d.load(&restored, next, newLedger(t), func() { pause(200 * time.Millisecond) })
	process.Until(t, "the log goes on", func() bool { pause(100 * time.Millisecond); return l.published(next).N > published.N+1 })
	l.wantProven(oldReceipt, first[0])
	l.wantProven(lostReceipt, lost[0])
	l.wantProven(l.receipt(next, first[0]), first[0])
	l.wantNamed(next, l.published(next).N, lostReceipt)
	l.comesBack(next, lost[0], lostReceipt)
	d.backUp("full") // of the new server, into the same repository
	next.terminate(t)
	next.wait(t)
	var epoch int64
	d.read(&restored, `SELECT min(epoch) FROM journal_batch WHERE at > '`+moment+`'`, &epoch)
	if epoch <= used {
		t.Errorf("the service goes on in epoch %d, and the lost server had used up to %d", epoch, used)
	}
	r := must((&journal.Checker{Pool: restored.pool, Limit: 5}).Check(t.Context(), time.Time{}, time.Time{}))(t)
	if !r.OK() || r.Entries == 0 {
		t.Errorf("after the restore and some more answers: %+v", r)
	}
	if r := must(publiclog.Check(t.Context(), restored.pool, nil))(t); len(r.Found) > 0 {
		t.Errorf("the public log: %v", r.Found)
	}
	t.Logf("restored to %s: %v before it, %d answers after it", moment, tally(told), len(lost))
}

// plant adds lines nobody asks about, so that there is something to copy.
func (d *drill) plant(w *fixture, lines int) {
	d.t.Helper()
	_ = must(w.pool.Exec(d.t.Context(), `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, newest)
		SELECT n, 1, 1, network, state, 0, state_since, tenure_start, newest FROM line_now, generate_series($1::bigint + 1000000, $1 + 999999 + $2) AS n WHERE number = $1`, firstLine, lines))(d.t)
}

// answersOf returns the request ids of the answers in a book.
func answersOf(book map[string]*entry) (ids []string) {
	for _, e := range book {
		if e.sent.Asked != nil && e.outcome() == okay {
			ids = append(ids, e.answered().Told.RequestID)
		}
	}
	return ids
}

// upload uploads documents and returns their ids.
func (d *drill) upload(w *fixture, p *instance, count int) (ids []string) {
	d.t.Helper()
	c := &client.Client{BaseURL: "http://" + p.public, Retries: -1}
	for range count {
		ids = append(ids, must(c.UploadDocument(d.t.Context(), client.Secret(w.token), client.Document{
			Type: client.DocumentOther, EntityUID: w.telco.ID.String(), FileName: "noise.png", Content: bytes.NewReader(noisePNG(d.t, 200)),
		}))(d.t))
	}
	return ids
}

// backUp takes a backup as the page says, and logs its time and size.
func (d *drill) backUp(kind string) {
	d.t.Helper()
	began := time.Now()
	d.follow(d.as, nil, "--type="+kind)
	took := time.Since(began)
	d.t.Logf("%s backup in %s: %s", kind, took.Round(10*time.Millisecond), d.sizes())
}

// load puts load on the service while something is done, and for a while after.
func (d *drill) load(w *fixture, p *instance, l *ledger, meanwhile func()) {
	d.t.Helper()
	stop := make(chan struct{})
	wait := rush(d.t, w, p.public, l, 8, stop)
	meanwhile()
	<-time.After(300 * time.Millisecond)
	close(stop)
	wait()
}

// lose ends the service and the server, once the log of everything is archived, and removes the
// server's data.
func (d *drill) lose(w *fixture, p *instance) {
	d.t.Helper()
	var last string
	d.read(w, `SELECT pg_walfile_name(pg_switch_wal())`, &last)
	process.Until(d.t, "the log is archived", func() bool {
		var archived string
		d.read(w, `SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver`, &archived)
		return archived >= last
	})
	p.Kill()
	w.pool.Close()
	d.lost.Stop()
	if err := os.RemoveAll(d.data("lost")); err != nil {
		d.t.Fatal(err)
	}
}

func (d *drill) read(w *fixture, sql string, into any) {
	d.t.Helper()
	if err := w.pool.QueryRow(d.t.Context(), sql).Scan(into); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

// between returns what stands between two words.
func between(text, first, second string) string {
	_, rest, _ := strings.Cut(text, first)
	found, _, _ := strings.Cut(rest, second)
	return found
}
