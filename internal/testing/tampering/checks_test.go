package tampering_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/monitor"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/receipt"
)

// level is how much somebody has who looks for tampering. Each has what the one before it
// has. Only the last is to find everything: the others are controls.
type level int

const (
	unnoticed level = iota
	database        // the checks of journal and audit trail, which compare the database with itself
	ownersLog       // and a log that its owner alone signs
	witnessed       // and witnesses
	full            // and a monitor that has seen the log before, and receipts
)

var levels = []level{database, ownersLog, witnessed, full}

func (l level) String() string {
	return [...]string{"not found", "journal and audit check", "a log signed by its owner", "witnesses", "monitor and receipts"}[l]
}

// check is one command, as a function.
type check struct {
	level   level
	command string // that does the same
	run     func(ctx context.Context, w *world, pool *pgxpool.Pool, handed []handed) (found string, err error)
}

var checks = []check{
	{database, "journal check --archived", checkJournal},
	{database, "audit check", checkAudit},
	{ownersLog, "log check", checkLog},
	{ownersLog, "log rebuild", checkTiles},
	{ownersLog, "receipt verify --verifier", func(_ context.Context, w *world, _ *pgxpool.Pool, h []handed) (string, error) {
		return verify(w.owner, h), nil
	}},
	{ownersLog, "monitor --verifier", checkMonitor(ownersLog)},
	{witnessed, "receipt verify --policy", func(_ context.Context, w *world, _ *pgxpool.Pool, h []handed) (string, error) {
		return verify(w.policy, h), nil
	}},
	{witnessed, "monitor --policy", checkMonitor(witnessed)},
	{full, "monitor --policy --receipts", checkMonitor(full)},
}

// look returns at which level an attack is found, by which check and what it says.
func look(ctx context.Context, w *world, pool *pgxpool.Pool, handed []handed) (level, *check, string, error) {
	for i := range checks {
		c := &checks[i]
		switch found, err := c.run(ctx, w, pool, handed); {
		case err != nil:
			return unnoticed, c, "", fmt.Errorf("%s: %w", c.command, err)
		case found != "":
			return c.level, c, found, nil
		}
	}
	return unnoticed, nil, "", nil
}

func checkJournal(ctx context.Context, w *world, pool *pgxpool.Pool, _ []handed) (string, error) {
	files, err := blob.OpenDir(filepath.Join(w.dir, "journal"))
	if err != nil {
		return "", err
	}
	defer files.Close()
	c := &journal.Checker{Pool: pool, Files: files, Limit: 10}
	inDatabase, err := c.Check(ctx, time.Time{}, time.Time{})
	if err != nil {
		return "", err
	}
	archived, err := c.CheckArchives(ctx, time.Time{}, time.Time{})
	if err != nil {
		return "", err
	}
	missing, err := journal.CheckGaps(ctx, pool, time.Time{}, time.Time{}, 10)
	if err != nil {
		return "", err
	}
	for _, r := range []journal.Report{inDatabase, archived, {Result: missing}} {
		if !r.OK() {
			return r.Findings[0].Where + ": " + r.Findings[0].What, nil
		}
	}
	return "", nil
}

func checkAudit(ctx context.Context, _ *world, pool *pgxpool.Pool, _ []handed) (string, error) {
	r, err := audit.CheckChain(ctx, pool)
	if err != nil || len(r.Found) == 0 {
		return "", err
	}
	return r.Found[0].What, nil
}

func checkLog(ctx context.Context, _ *world, pool *pgxpool.Pool, _ []handed) (string, error) {
	r, err := publiclog.Check(ctx, pool, nil)
	if err != nil || len(r.Found) == 0 {
		return "", err
	}
	return r.Found[0], nil
}

func checkTiles(ctx context.Context, w *world, pool *pgxpool.Pool, _ []handed) (string, error) {
	tiles, err := blob.OpenDir(filepath.Join(w.dir, "log"))
	if err != nil {
		return "", err
	}
	defer tiles.Close()
	r, err := publiclog.Rebuild(ctx, pool, nil, tiles, func(string, []byte) error { return nil }, nil)
	if err != nil || len(r.Found) == 0 {
		return "", err
	}
	return r.Found[0], nil
}

// monitor returns a monitor: at the last level it has seen the log before and has receipts.
func (w *world) monitor(at level) *monitor.Monitor {
	m := &monitor.Monitor{Source: monitor.Source(w.address), Policy: w.policy, Dir: filepath.Join(w.dir, "monitor"), Now: time.Now}
	if at == full {
		m.Receipts = filepath.Join(w.dir, "receipts")
		return m
	}
	m.Dir = filepath.Join(w.dir, fmt.Sprintf("monitor%d", at))
	if at == ownersLog {
		m.Policy = w.owner
	}
	return m
}

func checkMonitor(at level) func(context.Context, *world, *pgxpool.Pool, []handed) (string, error) {
	return func(ctx context.Context, w *world, _ *pgxpool.Pool, _ []handed) (string, error) {
		m := w.monitor(at)
		if err := os.MkdirAll(m.Dir, 0o700); err != nil {
			return "", err
		}
		r, err := m.Check(ctx)
		if v, ok := errors.AsType[*monitor.Violation](err); ok {
			return v.What, nil
		}
		if err == nil && len(r.Receipts.Wrong) > 0 {
			return r.Receipts.Wrong[0], nil
		}
		return "", err
	}
}

// verify returns why the receipts that somebody got do not prove what they were told.
func verify(policy *receipt.Policy, all []handed) string {
	for _, h := range all {
		r, err := receipt.Parse(h.text)
		if err != nil {
			return err.Error()
		}
		var told receipt.Record
		if h.isPromise {
			p, err := r.VerifyPromise(policy)
			if err != nil {
				return err.Error()
			}
			told = p.Record
		} else {
			v, err := r.Verify(policy)
			if err != nil {
				return err.Error()
			}
			told = v.Record
		}
		if told.RequestID != h.id.String() || told.Status != h.status {
			return "the receipt is of another answer"
		}
	}
	return ""
}
