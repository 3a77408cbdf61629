package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// briefLock is how long a migration waits for a lock before it gives up and tries again after
// lockPause. Whoever comes meanwhile waits behind it, so it is well below the time that a
// verification may take (LINEPROOF_VERIFY_TIMEOUT).
const (
	briefLock = "250ms"
	lockPause = time.Second
)

// migrator applies migrations.
type migrator struct {
	files   fs.FS
	limit   time.Duration
	applied func(string, time.Duration)
	waiting func(string)
	brief   *pgxpool.Pool // its statements wait for a lock for a moment
	// patient waits for locks without limit: for migrations outside a transaction, which build
	// indexes concurrently. They block nobody while they wait, and would have to start over.
	patient *pgxpool.Pool
}

// Step is a migration that was not applied yet.
type Step struct {
	Name string `json:"name"`
	// Tables are those that are locked for a moment: requests wait, but not for long.
	Tables []string `json:"tables"`
	// Concurrent says that it runs outside a transaction, for as long as its tables are large,
	// and blocks neither readers nor writers.
	Concurrent bool `json:"concurrent"`
}

// Pending returns the migrations of this program that were not applied.
func Pending(ctx context.Context, pool *pgxpool.Pool) ([]Step, error) {
	have, _, err := SchemaVersion(ctx, pool)
	if err != nil {
		return nil, err
	}
	names, _ := fs.Glob(Migrations(), "*.sql") // the pattern is well formed, and the names sorted
	steps := []Step{}
	for _, name := range names {
		if versionOf(name) <= have {
			continue
		}
		step, err := stepOf(Migrations(), name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

var (
	outsideTx = regexp.MustCompile(`(?m)^-- \+goose NO TRANSACTION`)
	quoted    = regexp.MustCompile(`(?s)\$\$.*?\$\$|'(?:[^']|'')*'|--[^\n]*`) // functions, comments and other text
	created   = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:public\.)?"?(\w+)`)
	locked    = regexp.MustCompile(`(?i)\b(?:(?:ALTER|DROP|TRUNCATE)\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?|(?:INDEX|TRIGGER)\b[^;]*?\sON\s+(?:ONLY\s+)?)(?:public\.)?"?(\w+)`)
)

// stepOf reads what a migration file does.
func stepOf(files fs.FS, name string) (Step, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return Step{}, fmt.Errorf("pg: read a migration: %w", err)
	}
	up, _, _ := strings.Cut(string(text), "-- +goose Down")
	s := Step{Name: strings.TrimSuffix(path.Base(name), ".sql"), Tables: []string{}, Concurrent: outsideTx.MatchString(up)}
	up = quoted.ReplaceAllString(up, "")
	var own []string // nobody waits for a table that nobody knows yet
	for _, m := range created.FindAllStringSubmatch(up, -1) {
		own = append(own, m[1])
	}
	for _, m := range locked.FindAllStringSubmatch(up, -1) {
		if !slices.Contains(own, m[1]) && !slices.Contains(s.Tables, m[1]) {
			s.Tables = append(s.Tables, m[1])
		}
	}
	return s, nil
}

func versionOf(name string) (version int64) {
	_, _ = fmt.Sscanf(path.Base(name), "%d_", &version) // a file without a number is not a migration
	return version
}

// applyAll applies what is pending, and returns the versions.
func (m *migrator) applyAll(ctx context.Context) (applied []int64, err error) {
	brief, patient := stdlib.OpenDBFromPool(m.brief), stdlib.OpenDBFromPool(m.patient)
	defer brief.Close() // the wrappers; the pools stay open
	defer patient.Close()
	inTx, err1 := goose.NewProvider(goose.DialectPostgres, brief, m.files)
	outside, err2 := goose.NewProvider(goose.DialectPostgres, patient, m.files)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("pg: read the migrations: %w", err)
	}
	if _, err := inTx.HasPending(ctx); err != nil { // fails if a migration is missing below those that were applied
		return nil, fmt.Errorf("pg: compare the migrations: %w", err)
	}
	all, err := inTx.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("pg: compare the migrations: %w", err)
	}
	for _, one := range all {
		if one.State != goose.StatePending {
			continue
		}
		step, err := stepOf(m.files, one.Source.Path)
		if err != nil {
			return applied, err
		}
		began, version := time.Now(), one.Source.Version
		if step.Concurrent {
			done := m.watchIndex(ctx, step)
			_, err = outside.ApplyVersion(ctx, version, true)
			done()
		} else {
			err = m.untilLocked(ctx, step.Name, step.Tables, func() error {
				_, err := inTx.ApplyVersion(ctx, version, true)
				return err //nolint:wrapcheck // it is wrapped below
			})
		}
		if err != nil {
			return applied, fmt.Errorf("pg: migrate: %s: %w", step.Name, err)
		}
		applied = append(applied, version)
		m.applied(step.Name, time.Since(began))
	}
	return applied, nil
}

// lockTimedOut reports whether a statement gave up waiting for a lock.
func lockTimedOut(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "55P03"
}
