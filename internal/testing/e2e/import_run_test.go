package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// importRun is a fixture for imports whose process is killed.
type importRun struct {
	*fixture

	t     *testing.T
	limit time.Duration  // for the import of one file
	paces []pace         // of each file, imported undisturbed
	hits  map[string]int // kills during an import, by its progress
	busy  int            // how often the next process started before PostgreSQL had noticed the end of the last

	begin    func(f supplyFile) *instance
	again    func(f supplyFile, so *progress) *instance
	finished func(p *instance, so *progress) error
	end      func()
	since    time.Time // before the process at work was started
}

// pace is how long the parts of an import take.
type pace struct {
	check, apply, rest time.Duration
	rows               int64
}

// byCommand imports the files at the command line.
func (s *importRun) byCommand() {
	run := func(f supplyFile, resume string) *instance {
		s.since = time.Now()
		return importCommand(s.t, s.fixture, "COBALT", f, resume)
	}
	s.begin = func(f supplyFile) *instance { return run(f, "") }
	s.again = func(f supplyFile, so *progress) *instance { return run(f, so.id) }
	s.finished = func(p *instance, _ *progress) error {
		p.wait(s.t)
		// Rows were rejected, as expected; or the kill came after the end.
		if code := p.ExitCode(); code != 6 && code != 2 {
			return fmt.Errorf("e2e: the command ended with %d:\n%s", code, p.output(s.t))
		}
		return nil
	}
	s.end = func() {}
}

// byServer sends the files to a server, which resumes the import by itself whenever
// it is started.
func (s *importRun) byServer() {
	var p *instance
	run := func() *instance {
		if p != nil {
			for _, l := range p.lines(s.t) {
				if l.Level == "ERROR" {
					s.t.Errorf("the server logged an error: %+v", l)
				}
			}
		}
		s.since = time.Now()
		p = start(s.t, s.fixture)
		return p
	}
	run()
	s.begin = func(f supplyFile) *instance {
		if _, err := sendFile(s.t.Context(), p.public, s.weak, f); err != nil {
			s.t.Fatal(err)
		}
		return p
	}
	s.again = func(supplyFile, *progress) *instance { return run() }
	s.finished = func(p *instance, so *progress) error {
		shown, err := importState(s.t.Context(), p.public, s.weak, so.id)
		if err == nil && (shown.State != so.state || shown.Rows != so.rows) {
			err = fmt.Errorf("e2e: the server says of the import that is %s: %+v", so, shown)
		}
		return err
	}
	s.end = func() {
		// A file is removed when its import has ended, by the next server if necessary.
		for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
			left := filesBelow(s.t, filepath.Join(s.data, "supplies"))
			if left == 0 {
				break
			}
			if time.Now().After(deadline) {
				s.t.Errorf("%d files are left of imports that are over", left)
				break
			}
		}
		p.terminate(s.t)
		p.wait(s.t)
	}
}

// filesBelow counts the files in a directory and below it.
func filesBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// progress is the progress of an import, from its row, and since when.
type progress struct {
	id, state string
	rows      int64
	running   bool // the process that was started last works on it

	began    time.Time // running, without a break
	applying time.Time // first seen
	moved    time.Time // rows or running changed
}

func (so *progress) String() string { return fmt.Sprintf("%s at row %d", so.state, so.rows) }

func (so *progress) over() bool {
	return so.state != "" && so.state != "checking" && so.state != "applying"
}

// look updates so. The importing process holds the lock of the import; that of a
// killed process may be held for a moment longer.
func (s *importRun) look(n int, so *progress) {
	s.t.Helper()
	was := *so
	err := s.pool.QueryRow(s.t.Context(), `SELECT uid::text, state, rows, EXISTS (
			SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()
			AND a.backend_start > $2 AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended('lineproof import ' || uid, 0))
		FROM supply_import ORDER BY id OFFSET $1 LIMIT 1`, n, s.since).Scan(&so.id, &so.state, &so.rows, &so.running)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		s.t.Fatal(err)
	}
	now := time.Now()
	if so.running && !was.running {
		so.began = now
	}
	if so.state != "checking" && so.state != "" && so.applying.IsZero() {
		so.applying, so.moved = now, now
	}
	if so.running != was.running || so.rows != was.rows {
		so.moved = now
	}
}

// pace returns how long the parts of an import took that was not disturbed.
func (so *progress) pace() pace {
	began := so.began
	if began.IsZero() || began.After(so.applying) {
		began = so.applying // it was checked between two calls
	}
	return pace{so.applying.Sub(began), so.moved.Sub(so.applying), time.Since(so.moved), so.rows}
}
