package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	oneRowClients = 16
	batchClients  = 4
	batchRows     = 100
)

// columns are the columns of a record, in the order of the values below.
const columns = `request_id, at, epoch, n, idx, type, entity_id, key_id, mode, purpose, purpose_text, status, reason, mobile_network, line_version,
	policy_version, plan_version, rules, coverage, number, phone_number, correlator, external_id, on_behalf_of, options, extra, nonce, hash`

// oneRowScript looks a line up and records an answer, as a simple client would:
// four statements, each of them a round trip.
const oneRowScript = `\set n random(%[1]d, %[2]d)
BEGIN;
SELECT * FROM line_now WHERE number = :n;
INSERT INTO journal_entry (` + columns + `)
	VALUES (gen_random_uuid(), now(), 0, 1, 0, 'number', :entity, :key, 'live', 'other', 'kyc',
	'NORMAL', '', 'Cobalt', 1, 1, 1, 1, :coverage, :n, '+' || :n::text, '', '', '', '', '', :nonce, :hash);
END;
`

// batchScript does the same for a hundred numbers at once. The server generates
// the numbers, which costs little compared with the rest.
const batchScript = `BEGIN;
SELECT * FROM line_now WHERE number = ANY (ARRAY(SELECT %[1]d + floor(random() * %[2]d)::bigint FROM generate_series(1, %[3]d)));
INSERT INTO journal_entry (` + columns + `)
	SELECT gen_random_uuid(), now(), 0, 1, i, 'number', :entity, :key, 'live', 'other', 'kyc',
	'NORMAL', '', 'Cobalt', 1, 1, 1, 1, :coverage, n, '+' || n::text, '', '', '', '', '', :nonce, :hash
	FROM (SELECT i, %[1]d + floor(random() * %[2]d)::bigint AS n FROM generate_series(1, %[3]d) i) r;
END;
`

// pgbenchRun is one run of pgbench.
type pgbenchRun struct {
	variant string
	clients int
	rows    int // per transaction
	sampled float64
	script  string
}

func (t *testbed) pgbenchRuns(callers int) map[string]pgbenchRun {
	one := fmt.Sprintf(oneRowScript, firstNumber, firstNumber+t.lines-1)
	return map[string]pgbenchRun{
		variantOneRow:     {variantOneRow, oneRowClients, 1, 0.2, one},
		variantOneRowMany: {variantOneRowMany, callers, 1, 0.2, one},
		variantBatch:      {variantBatch, batchClients, batchRows, 1, fmt.Sprintf(batchScript, firstNumber, t.lines, batchRows)},
	}
}

// warm returns the seconds before the measurement starts. Each connection of
// PostgreSQL first fills its own caches and prepares its statements; with hundreds
// of them that takes seconds, and is not part of the cost of a transaction.
func (r *pgbenchRun) warm() int { return 1 + r.clients/64 }

// pgbenchProgram finds the pgbench of the running server, or else any.
func (t *testbed) pgbenchProgram() (string, error) {
	if path := filepath.Join(t.bin, "pgbench"); t.bin != "" {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("pgbench")
	if err != nil {
		return "", errors.New("bench: pgbench is not installed (Debian: apt-get install postgresql-contrib), or skip it with -skip")
	}
	return path, nil
}

// pgbench runs a script and measures between two lines of its progress output, so
// that opening and closing connections is not counted.
func (t *testbed) pgbench(ctx context.Context, run pgbenchRun, seconds int, idle []int) (m measurement, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(run.warm()+seconds)*time.Second+time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp(t.dir, "pgbench-")
	if err != nil {
		return m, fmt.Errorf("bench: create a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	cmd, err := t.pgbenchCommand(ctx, run, seconds, dir)
	if err != nil {
		return m, err
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		return m, fmt.Errorf("bench: pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return m, fmt.Errorf("bench: start pgbench: %w", err)
	}
	seen := watch{postgres: t.postgres, generator: cmd.Process.Pid, rest: idle}
	passed, other, err := seen.followProgress(bufio.NewScanner(out), run.warm(), seconds)
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return m, fmt.Errorf("bench: pgbench: %w\n%s", err, other)
	}
	took, err := readLogs(dir, passed.begin.at, passed.end.at)
	if err != nil {
		return m, err
	}
	m = measurement{Variant: run.variant, Clients: run.clients, Lines: t.lines, Rate: passed.rate * float64(run.rows), Latencies: took.latencies()}
	passed.charge(&m, m.Rate*passed.length().Seconds(), 0)
	return m, nil
}

func (t *testbed) pgbenchCommand(ctx context.Context, run pgbenchRun, seconds int, dir string) (*exec.Cmd, error) {
	program, err := t.pgbenchProgram()
	if err != nil {
		return nil, err
	}
	host, port, database, err := t.databaseAddress()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(script, []byte(run.script), 0o600); err != nil {
		return nil, fmt.Errorf("bench: write a script: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "-h", host, "-p", port, "-U", "postgres", "-n", "-M", "prepared", "-f", script, //nolint:gosec // our own program
		"-c", strconv.Itoa(run.clients), "-j", strconv.Itoa(min(runtime.NumCPU(), run.clients, 2)), "-T", strconv.Itoa(run.warm()+seconds+1), "-P", "1",
		"-l", "--log-prefix="+filepath.Join(dir, "log"), fmt.Sprintf("--sampling-rate=%g", run.sampled),
		"-D", "entity=00000000-0000-7000-8000-000000000001", "-D", "key=00000000-0000-7000-8000-000000000002",
		"-D", `coverage=\x`+strings.Repeat("00", 39), "-D", `nonce=\x`+strings.Repeat("5a", 16), "-D", `hash=\x`+strings.Repeat("c3", 32), database)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // when this process ends, so does PostgreSQL, and then pgbench
	return cmd, nil
}

var progressLine = regexp.MustCompile(`^progress: [0-9.]+ s, ([0-9.]+) tps, lat `)

// pgbenchWindow is a measurement window with its transaction rate.
type pgbenchWindow struct {
	window

	rate float64 // transactions per second
}

// followProgress reads the progress of pgbench, a line each second: the window starts
// after the warm-up and ends seconds lines later. Other output is returned for
// error messages.
func (w *watch) followProgress(lines *bufio.Scanner, warm, seconds int) (p pgbenchWindow, rest string, err error) {
	var other bytes.Buffer
	transactions, n := 0.0, 0
	last := time.Time{}
	for lines.Scan() {
		found := progressLine.FindStringSubmatch(lines.Text())
		if found == nil {
			other.WriteString(lines.Text() + "\n")
			continue
		}
		if n++; n < warm || n > warm+seconds {
			continue
		}
		tps, parseErr := strconv.ParseFloat(found[1], 64)
		now, sampleErr := w.sample()
		err = errors.Join(err, parseErr, sampleErr)
		if n == warm {
			p.begin, last = now, now.at
			continue
		}
		transactions += tps * now.at.Sub(last).Seconds()
		p.end, last = now, now.at
	}
	if n < warm+seconds && err == nil {
		err = fmt.Errorf("it printed only %d progress lines", n)
	}
	if span := p.length().Seconds(); span > 0 {
		p.rate = transactions / span
	}
	return p, other.String(), errors.Join(err, lines.Err())
}

// readLogs reads the durations of the transactions that ended between two times.
func readLogs(dir string, from, to time.Time) (*histogram, error) {
	files, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		return nil, fmt.Errorf("bench: find the logs of pgbench: %w", err)
	}
	took := new(histogram)
	for _, path := range files {
		text, err := os.ReadFile(path) //nolint:gosec // in a directory of our own
		if err != nil {
			return nil, fmt.Errorf("bench: read a log of pgbench: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			if d, at, ok := parseLog(line); ok && !at.Before(from) && at.Before(to) {
				took.add(d)
			}
		}
	}
	return took, nil
}

// parseLog reads a line of pgbench's log: client, transaction number, duration in
// microseconds, script number, and the end time in seconds and microseconds.
func parseLog(line string) (took time.Duration, at time.Time, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 {
		return 0, at, false
	}
	us, err1 := strconv.ParseFloat(fields[2], 64)
	seconds, err2 := strconv.ParseInt(fields[4], 10, 64)
	fraction, err3 := strconv.ParseInt(fields[5], 10, 64)
	if errors.Join(err1, err2, err3) != nil || us < 0 || math.IsInf(us, 0) {
		return 0, at, false
	}
	return time.Duration(us * float64(time.Microsecond)), time.Unix(seconds, fraction*int64(time.Microsecond)), true
}
