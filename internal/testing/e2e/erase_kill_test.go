package e2e_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

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

// erasedNumber is whose records are erased. It has no line, so that nothing else of the
// database has it either.
const erasedNumber = 2348097654321

// However often an erasure is killed, and at whatever point, in the end no byte of what
// was erased is left in the files of the database and of the archive, no other record is
// touched, and everything verifies.
func TestEraseKill(t *testing.T) {
	kills, perDay := size(t, "LINEPROOF_E2E_ERASE_KILLS", 3), size(t, "LINEPROOF_E2E_ERASE_RECORDS", 108)/9
	_, cluster := durable(t)
	name := must(cluster.Clone(context.Background()))(t)
	url, data := cluster.URL(name), t.TempDir()
	entries := mixedDays(t, url, perDay)
	if p := archiveCommand(t, url, data); !p.ends(t, time.Minute) || p.ExitCode() != 0 {
		t.Fatalf("the archiving ended with %d:\n%s", p.ExitCode(), p.output(t))
	}
	order := func(url string) *pgxpool.Pool {
		pool := pgtest.Open(t, url, "")
		_, err := pool.Exec(t.Context(), `INSERT INTO erasure (id, ground, state, number, asked_at) VALUES ($1, 'request', 'confirmed', $2, now())`, uuid.New(), int64(erasedNumber))
		if err != nil {
			t.Fatal(err)
		}
		return pool
	}
	if err := cluster.Admin(t.Context(), "CREATE DATABASE undisturbed TEMPLATE "+name); err != nil {
		t.Fatal(err)
	}
	calm := filepath.Join(t.TempDir(), "calm")
	if err := os.CopyFS(calm, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	order(cluster.URL("undisturbed"))
	took := func() time.Duration {
		begin := time.Now()
		if p := eraseCommand(t, cluster.URL("undisturbed"), calm); !p.ends(t, time.Minute) || p.ExitCode() != 0 {
			t.Fatalf("undisturbed, the command ended with %d:\n%s", p.ExitCode(), p.output(t))
		}
		return time.Since(begin)
	}
	all := took()
	all -= took() // a run that has nothing to do
	step := max(2*all/time.Duration(kills), 5*time.Millisecond)
	pool := order(url)
	files := must(blob.OpenDir(filepath.Join(data, "journal")))(t)
	defer files.Close()
	marks := personalBytes(entries)
	if left := must(journaltest.BytesLeft(t.Context(), pool, data, marks))(t); len(left) < len(entries)/4 {
		t.Fatalf("before the erasure only %d marks are found", len(left))
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	met := 0
	for range 20 * kills {
		p := eraseCommand(t, url, data)
		process.Until(t, "the command is at work", func() bool { return archiving(t, pool) > 0 || p.ends(t, 0) })
		if !p.ends(t, rand.N(step)) {
			p.Kill()
			met++
		}
		free(t, pool)
		unharmed(t, pool, files, entries[rand.IntN(len(entries)):][:1])
		if met == kills || p.ExitCode() == 0 {
			break
		}
	}
	t.Logf("undisturbed it took %s; killed %d times in the middle of it", all.Round(time.Millisecond), met)
	if met < min(kills, 2) {
		t.Errorf("%d kills met the command at work, so they prove nothing", met)
	}
	if p := eraseCommand(t, url, data); !p.ends(t, 2*time.Minute) || p.ExitCode() != 0 {
		t.Fatalf("in the end the command ended with %d:\n%s", p.ExitCode(), p.output(t))
	}
	unharmed(t, pool, files, entries)
	for i := range entries {
		if e := &entries[i]; e.Number == erasedNumber {
			got := must(journal.Find(t.Context(), pool, files, e.RequestID))(t)
			if !got.Erased() || got.Hash() != e.Hash() {
				t.Fatalf("record %d is not erased", i)
			}
			// The number cannot be confirmed: with the right guess of everything but the nonce,
			// the hash is another one.
			guess := *e
			guess.Nonce = got.Nonce
			if guess.InnerHash() == got.Inner {
				t.Fatalf("record %d can be guessed", i)
			}
		}
	}
	checker := &journal.Checker{Pool: pool, Files: files, Limit: 10}
	inDatabase := must(checker.Check(t.Context(), time.Time{}, time.Time{}))(t)
	archived := must(checker.CheckArchives(t.Context(), time.Time{}, time.Time{}))(t)
	if !inDatabase.OK() || !archived.OK() || inDatabase.Erased == 0 || archived.Erased == 0 {
		t.Errorf("the check: %+v %+v", inDatabase, archived)
	}
	// The file of today is written anew when the day has ended.
	exec(`VACUUM FULL journal_entry_` + time.Now().UTC().Format("20060102"))
	if left := must(journaltest.BytesLeft(t.Context(), pool, data, marks))(t); len(left) > 0 {
		t.Errorf("%d marks are left, the first is %s", len(left), left[0])
	}
	t.Logf("%d records were erased in the database and %d in the archive", inDatabase.Erased, archived.Erased)
}

// mixedDays fills four days that are due for the archive, four closed days and today.
func mixedDays(t *testing.T, url string, perDay int) (all []record.Entry) {
	t.Helper()
	pool := must(pg.Open(t.Context(), url, pg.Options{}))(t)
	defer pool.Close()
	j := must(journal.Open(t.Context(), pool, nodeName, 2))(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for _, ago := range []int{50, 49, 48, 47, 20, 19, 18, 17, 0} {
		day := today.AddDate(0, 0, -ago)
		if err := journaltest.MakeDay(t.Context(), pool, day); err != nil {
			t.Fatal(err)
		}
		for i := range perDay {
			at := day.Add(time.Duration(i) * time.Second)
			batch := make([]record.Entry, 4)
			for k := range batch {
				batch[k] = record.Entry{
					RequestID: record.NewRequestID(at), At: at, Type: "number", Entity: uuid.New(), Key: uuid.New(), Mode: "live", Purpose: "payment",
					Status: "NORMAL", MobileNetwork: "Cobalt", LineVersion: 1, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
					Personal: record.Personal{Number: firstLine + int64(k), PhoneNumber: "0803 100 0000", Correlator: "somebody else"},
				}
			}
			batch[i%4].Personal = record.Personal{
				Number: erasedNumber, PhoneNumber: "0809/7654321", Correlator: "erase-me-" + strconv.Itoa(i), ExternalID: "customer-to-forget",
				Options: "include=signals", Extra: `{"signals":["to-forget"]}`,
			}
			if err := j.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return batch, nil }); err != nil {
				t.Fatal(err)
			}
			all = append(all, batch...)
		}
	}
	return all
}

// personalBytes returns what must not stand in any file after the erasure.
func personalBytes(entries []record.Entry) (marks [][]byte) {
	for _, text := range []string{"0809/7654321", "erase-me-", "customer-to-forget", "to-forget", strconv.Itoa(erasedNumber)} {
		marks = append(marks, []byte(text))
	}
	marks = append(marks, binary.LittleEndian.AppendUint64(nil, erasedNumber))
	for i := range entries {
		if e := &entries[i]; e.Number == erasedNumber {
			marks = append(marks, e.Nonce[:], []byte(hex.EncodeToString(e.Nonce[:])))
		}
	}
	return marks
}

// unharmed fails the test unless the records that are not to be erased are as they were
// written, and the others are, or are erased.
func unharmed(t *testing.T, pool *pgxpool.Pool, files blob.Store, entries []record.Entry) {
	t.Helper()
	for i := range entries {
		want := &entries[i]
		got, err := journal.Find(t.Context(), pool, files, want.RequestID)
		if err != nil {
			t.Fatalf("a record is not found: %v", err)
		}
		if got != *want && (want.Number != erasedNumber || !got.Erased() || got.Hash() != want.Hash()) {
			t.Fatalf("a record was changed: %+v", got)
		}
	}
}

// eraseCommand runs `lineproof journal erase run`.
func eraseCommand(t *testing.T, database, data string) *instance {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "erase.log")))(t)
	return launch(t, log, []string{"LINEPROOF_DATABASE_URL=" + database + "&application_name=archive", "LINEPROOF_DATA=" + data}, "journal", "erase", "run")
}
