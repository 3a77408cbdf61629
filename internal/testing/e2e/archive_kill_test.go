package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// However often the archiving of the journal is killed, and at whatever point: no
// record is lost, and in the end each is in the archive once, as it was written.
func TestArchiveKill(t *testing.T) {
	kills := size(t, "LINEPROOF_E2E_ARCHIVE_KILLS", 4)
	days := 2 * kills
	_, cluster := durable(t)
	name := must(cluster.Clone(context.Background()))(t)
	records := oldDays(t, cluster.URL(name), days, 10, 5)
	if err := cluster.Admin(t.Context(), "CREATE DATABASE undisturbed TEMPLATE "+name); err != nil {
		t.Fatal(err)
	}
	calm := t.TempDir()
	took := func() time.Duration {
		begin := time.Now()
		if p := archiveCommand(t, cluster.URL("undisturbed"), calm); !p.ends(t, time.Minute) || p.ExitCode() != 0 {
			t.Fatalf("undisturbed, the command ended with %d:\n%s", p.ExitCode(), p.output(t))
		}
		return time.Since(begin)
	}
	all, nothing := took(), took() // the second run has nothing to do
	day := max((all-nothing)/time.Duration(days), 10*time.Millisecond)

	data, hits, met := t.TempDir(), make(map[string]int), 0
	pool := pgtest.Open(t, cluster.URL(name), "")
	files := must(blob.OpenDir(filepath.Join(data, "journal")))(t)
	defer files.Close()
	for range 20 * kills {
		p := archiveCommand(t, cluster.URL(name), data)
		process.Until(t, "the command is at work", func() bool { return archiving(t, pool) > 0 || p.ends(t, 0) })
		if !p.ends(t, rand.N(3*day)) {
			p.Kill()
			met++
		}
		free(t, pool)
		hits[standing(t, pool)]++
		everywhere(t, pool, files, records[rand.IntN(len(records)):][:1]) // any record must be somewhere
		if met == kills || p.ExitCode() == 0 {
			break
		}
	}
	t.Logf("undisturbed, %d days took %s; killed %d times in the middle of it, which left: %v", days, all.Round(time.Millisecond), met, hits)
	if met < 2 {
		t.Errorf("%d kills met the command at work, so they prove nothing", met)
	}
	if p := archiveCommand(t, cluster.URL(name), data); !p.ends(t, time.Minute) || p.ExitCode() != 0 {
		t.Fatalf("in the end the command ended with %d:\n%s", p.ExitCode(), p.output(t))
	}
	if s := standing(t, pool); s != fmt.Sprintf("%d archived, 0 detaching, 0 detached, 0 left", days) {
		t.Errorf("in the end: %s", s)
	}
	everywhere(t, pool, files, records)
	r := must((&journal.Checker{Pool: pool, Files: files, Limit: 10}).CheckArchives(t.Context(), time.Time{}, time.Time{}))(t)
	if !r.OK() || r.Archives != days || r.Entries != int64(len(records)) {
		t.Errorf("%d records were written; the archives: %+v", len(records), r)
	}
}

// oldDays creates and fills days of the past, all of which are due for the archive.
func oldDays(t *testing.T, url string, days, batches, each int) (all []record.Entry) {
	t.Helper()
	pool := must(pg.Open(t.Context(), url, pg.Options{}))(t)
	defer pool.Close()
	j := must(journal.Open(t.Context(), pool, nodeName, 2))(t)
	for d := range days {
		day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, d-days-40)
		if err := journaltest.MakeDay(t.Context(), pool, day); err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			at := day.Add(time.Duration(i) * time.Minute)
			batch := make([]record.Entry, each)
			for k := range batch {
				batch[k] = record.Entry{
					RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment",
					Status: "NORMAL", MobileNetwork: "Cobalt", LineVersion: 1, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
					Personal: record.Personal{Number: firstLine + int64(k), PhoneNumber: "0803 100 0000"},
				}
			}
			if err := j.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return batch, nil }); err != nil {
				t.Fatal(err)
			}
			all = append(all, batch...)
		}
	}
	return all
}

// archiveCommand runs `lineproof journal archive`.
func archiveCommand(t *testing.T, database, data string) *instance {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "archive.log")))(t)
	return launch(t, log, []string{"LINEPROOF_DATABASE_URL=" + database + "&application_name=archive", "LINEPROOF_DATA=" + data}, "journal", "archive")
}

// ends reports whether the process ends by itself within a time.
func (p *instance) ends(t *testing.T, within time.Duration) bool {
	t.Helper()
	select {
	case <-p.Ended():
		return true
	case <-time.After(within):
		return false
	}
}

// free waits until the database has noticed the end of the killed process.
func free(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	process.Until(t, "nobody archives any more", func() bool { return archiving(t, pool) == 0 })
}

// archiving returns how many sessions of the command there are.
func archiving(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'archive' AND datname = current_database()`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// standing returns the progress of the archiving, from the state of the database.
func standing(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	var archived, pending, detached, left int
	old := time.Now().UTC().AddDate(0, 0, -35).Format("20060102")
	err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_archive), count(*) FILTER (WHERE i.inhdetachpending),
			count(*) FILTER (WHERE i.inhrelid IS NULL), count(*)
		FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
		WHERE c.relkind = 'r' AND c.relname ~ '^journal_(entry|batch)_[0-9]{8}$' AND right(c.relname, 8) < $1`, old).Scan(&archived, &pending, &detached, &left)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d archived, %d detaching, %d detached, %d left", archived, pending, detached, left)
}

// everywhere fails the test unless records are found, in the database or in the
// archive, as they were written.
func everywhere(t *testing.T, pool *pgxpool.Pool, files blob.Store, records []record.Entry) {
	t.Helper()
	for i := range records {
		got, err := journal.Find(t.Context(), pool, files, records[i].RequestID)
		if err != nil {
			t.Fatalf("a record is not found: %v", err)
		}
		if diff := cmp.Diff(records[i], got); diff != "" {
			t.Fatalf("a record (-written +found):\n%s", diff)
		}
	}
}
