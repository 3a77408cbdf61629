package e2e_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// jobRun is a file job of a bank, beside verifications.
type jobRun struct {
	*fixture

	t      *testing.T
	node   *pgtest.Node
	server *instance
	key    client.Secret
	load   *openLoop
	rows   int64
	id     string
}

// A file is verified beside other requests: the server and PostgreSQL are killed again and
// again, and every row has one record and one line in the result, none two. What it costs
// other requests is measured before the first kill.
func TestJobKill(t *testing.T) {
	rows, kills := int64(size(t, "LINEPROOF_E2E_JOB_ROWS", 8_000)), size(t, "LINEPROOF_E2E_JOB_KILLS", 3)
	calm := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 1)) * time.Second
	var settings []string
	if rows >= 100_000 {
		settings = nationSettings
	}
	node, w := newFaultNode(t, "", settings...)
	plantAsked(t, w, rows)
	if rows >= 100_000 {
		keepSegments(t, w)
	}
	key := must(w.keeper.CreateKey(t.Context(), access.KeyForm{Entity: w.bank.ID, Name: "files", Mode: "live", Purpose: "kyc", Rights: []string{"jobs"}}, access.Operator, uuid.Nil))(t)
	j := &jobRun{fixture: w, t: t, node: node, server: start(t, w), key: client.Secret(key.Text.Reveal()), rows: rows}
	j.load = &openLoop{world: w, address: j.server.public, rate: size(t, "LINEPROOF_E2E_RATE", 100), asked: rows}
	file := j.file()

	idle := func(ctx context.Context) error { return pass(ctx, calm) }
	j.load.run(t, &phase{name: "while it warms up"}, idle)
	without, with := &phase{name: "without a file"}, &phase{name: "with a file"}
	j.load.run(t, without, idle)

	begin := time.Now()
	j.load.run(t, with, func(ctx context.Context) error { return j.send(ctx, file, with.mark) })
	j.load.run(t, with, j.until(rows/2))
	undisturbed := time.Since(begin)
	for i := range kills {
		j.load.run(t, &phase{name: "between two kills"}, j.until(rows/2+rows/2*int64(i)/int64(kills)))
		j.kill(i)
	}
	ended := &phase{name: "after the last kill"}
	j.load.run(t, ended, j.until(rows+1))
	took := time.Since(begin)
	without.report(t)
	with.report(t)
	for _, part := range with.parts() {
		part.report(t)
	}
	ended.report(t)
	ratio := float64(with.quantile(0.99)) / float64(without.quantile(0.99))
	t.Logf("%d rows took %s with %d kills; the first half without one %s, %.0f rows a second; p99 is %.2f times that without", rows, took.Round(time.Millisecond), kills,
		undisturbed.Round(time.Millisecond), float64(rows/2)/undisturbed.Seconds(), ratio)
	if most := os.Getenv("LINEPROOF_E2E_RATIO"); most != "" && ratio > must(strconv.ParseFloat(most, 64))(t) {
		t.Errorf("p99 is %.2f times that without, more than %s", ratio, most)
	}
	if most := os.Getenv("LINEPROOF_E2E_MINUTES"); most != "" && took.Minutes() > must(strconv.ParseFloat(most, 64))(t) {
		t.Errorf("the job took %s, more than %s minutes", took, most)
	}
	j.check()
}

// keepSegments leaves old segments of the WAL to be used again, as a server that has been
// in use for a while has them: min_wal_size of them. Making a new one stalls commits.
func keepSegments(t *testing.T, w *fixture) {
	t.Helper()
	const segments = 4 << 30 / (16 << 20)
	for range segments {
		if _, err := w.pool.Exec(t.Context(), `SELECT pg_logical_emit_message(false, 'e2e', 'x'), pg_switch_wal()`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.pool.Exec(t.Context(), `CHECKPOINT`); err != nil {
		t.Fatal(err)
	}
}

// file writes the file. One row in a thousand cannot be read.
func (j *jobRun) file() string {
	j.t.Helper()
	f := must(os.Create(filepath.Join(j.t.TempDir(), "numbers.csv")))(j.t)
	to := bufio.NewWriter(f)
	_, err := to.WriteString("number,since,externalId\n")
	for i := range j.rows {
		if i%1000 == 999 {
			_, err = fmt.Fprintf(to, "nobody,,row-%d\n", i)
		} else if err == nil {
			_, err = fmt.Fprintf(to, "+%d,2026-01-31,row-%d\n", firstAsked+i, i)
		}
	}
	if err := errors.Join(err, to.Flush(), f.Close()); err != nil {
		j.t.Fatal(err)
	}
	return f.Name()
}

func (j *jobRun) client() *client.Client { return &client.Client{BaseURL: "http://" + j.server.public} }

// send sends the file, and waits until its rows are being answered.
func (j *jobRun) send(ctx context.Context, path string, mark func(string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	mark("receiving")
	job, err := j.client().CreateJob(ctx, j.key, client.NewJob{Name: "e2e"})
	if err != nil {
		return err
	}
	j.id = job.ID
	if _, err := j.client().SendJobFile(ctx, j.key, j.id, f, "text/csv"); err != nil {
		return err
	}
	mark("checking")
	err = j.until(0)(ctx)
	mark("running")
	return err
}

// until waits until so many rows are done; with 0, until the first one may be, and with
// more than there are, until the job has ended. The database may be away meanwhile.
func (j *jobRun) until(rows int64) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			var state, reason string
			var done int64
			err := j.pool.QueryRow(ctx, `SELECT state, reason, answered + rejected FROM file_job WHERE id = $1`, j.id).Scan(&state, &reason, &done)
			switch {
			case err != nil:
			case state == "failed":
				return fmt.Errorf("e2e: the job failed: %s", reason)
			case state == "done", state != "checking" && done >= rows:
				return nil
			}
			if err := pass(ctx, 5*time.Millisecond); err != nil {
				return err
			}
		}
	}
}

// kill kills the server, or at every third time PostgreSQL, and starts it again.
func (j *jobRun) kill(i int) {
	j.t.Helper()
	if i%3 == 2 {
		if err := j.node.Kill(); err != nil {
			j.t.Fatal(err)
		}
		if err := j.node.Start(j.t.Context()); err != nil {
			j.t.Fatal(err)
		}
		j.awake()
		return
	}
	j.server.Kill()
	j.server = start(j.t, j.fixture)
	j.load = &openLoop{world: j.fixture, address: j.server.public, rate: j.load.rate, asked: j.load.asked}
}

// awake waits until the server answers again.
func (j *jobRun) awake() {
	j.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := j.client().Job(j.t.Context(), j.key, j.id); err == nil {
			return
		} else if time.Now().After(deadline) {
			j.t.Fatalf("the server does not answer a minute after PostgreSQL is back: %v", err)
		}
	}
}

// check compares the result with the file and with the journal.
func (j *jobRun) check() {
	j.t.Helper()
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(j.client().JobResult(j.t.Context(), j.key, j.id, out)) }()
	lines := csv.NewReader(in)
	lines.ReuseRecord = true
	must(lines.Read())(j.t) // the header
	var answered, rejected int64
	var given, recorded uint64 // sums that do not depend on the order
	for i := range j.rows {
		l := must(lines.Read())(j.t)
		if l[0] != strconv.FormatInt(i+2, 10) {
			j.t.Fatalf("the line after %d rows is %v", i, l)
		}
		if i%1000 == 999 {
			if rejected++; l[10] != "BAD_FORMAT" || l[11] != "number" || l[3] != "" {
				j.t.Fatalf("a row that cannot be read is %v", l)
			}
			continue
		}
		if answered++; l[1] != "+"+strconv.FormatInt(firstAsked+i, 10) || l[2] != "NORMAL" || l[4] != "Indigo" || l[9] != "row-"+strconv.FormatInt(i, 10) || l[6] == "" {
			j.t.Fatalf("row %d is %v", i, l)
		}
		given += sumOf(l[3], l[9])
	}
	if l, err := lines.Read(); !errors.Is(err, io.EOF) {
		j.t.Errorf("the result goes on with %v, %v", l, err)
	}
	var records, different int64
	rows := must(j.pool.Query(j.t.Context(), `SELECT request_id::text, external_id FROM journal_entry WHERE correlator = $1`, j.id))(j.t)
	defer rows.Close()
	for rows.Next() {
		var id, external string
		if err := rows.Scan(&id, &external); err != nil {
			j.t.Fatal(err)
		}
		records++
		recorded += sumOf(id, external)
	}
	if err := rows.Err(); err != nil {
		j.t.Fatal(err)
	}
	if err := j.pool.QueryRow(j.t.Context(), `SELECT count(DISTINCT external_id) FROM journal_entry WHERE correlator = $1`, j.id).Scan(&different); err != nil {
		j.t.Fatal(err)
	}
	if records != answered || different != answered || given != recorded {
		j.t.Errorf("the result has %d answers, the journal %d records of %d rows, and they are the same: %t", answered, records, different, given == recorded)
	}
	j.t.Logf("%d rows answered and recorded once, %d rejected", answered, rejected)
}

func sumOf(id, external string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, id+" "+external) // a hash never fails
	return h.Sum64()
}
