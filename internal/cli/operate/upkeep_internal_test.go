package operate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// expect runs a check and compares the first line of what it found, and what it found with
// --ha.
func expect(t *testing.T, d *databaseChecks, check func(), plain, strict string) {
	t.Helper()
	for _, want := range []string{plain, strict} {
		d.report = &report{strict: want == strict && plain != strict}
		check()
		if len(d.findings) == 0 || !strings.HasPrefix(d.findings[0].line(), want) {
			t.Errorf("strict %t: %+v, want %s", d.strict, d.findings, want)
		}
	}
}

// startNode starts a PostgreSQL of the test's own, with a migrated database.
func startNode(t *testing.T, settings ...string) (*pgtest.Node, *databaseChecks) {
	t.Helper()
	n, err := pgtest.StartNode(t.Context(), "", settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n, &databaseChecks{report: &report{}, pool: pgtest.Open(t, n.Database(), pg.Serve)}
}

func admin(t *testing.T, n *pgtest.Node, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if err := n.Admin(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// changeSetting changes a setting and waits until sessions see it.
func changeSetting(t *testing.T, n *pgtest.Node, name, value string) {
	t.Helper()
	admin(t, n, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value), "SELECT pg_reload_conf()")
	seen := fmt.Sprintf(`DO $$ BEGIN IF current_setting('%s') <> '%s' THEN RAISE EXCEPTION 'not yet'; END IF; END $$`, name, value)
	for t.Context().Err() == nil && n.Admin(t.Context(), seen) != nil { // a new session each time
	}
}

// Without a synchronous standby a record is on one machine only, and with one that is gone
// nothing commits.
func TestMissingSynchronousStandbyIsReported(t *testing.T) {
	t.Parallel()
	n, d := startNode(t)
	check := func() { d.standby(t.Context(), time.Second) }
	expect(t, d, check, "warn  synchronous standby: synchronous_standby_names is empty", "fail  synchronous standby: synchronous_standby_names is empty")

	second, _ := startStandby(t, n)
	if err := n.Require(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	expect(t, d, check, "ok    synchronous standby: it confirmed a commit within ", "ok    synchronous standby: ")
	second.Stop()
	d.report = &report{}
	if check(); len(d.findings) != 1 || !strings.HasPrefix(d.findings[0].line(), "fail  synchronous standby: a commit was not confirmed within 1s") {
		t.Errorf("without the standby: %+v", d.findings)
	}
}

// A log that is not archived is reported, and an archive that cannot be written.
func TestLogThatIsNotArchivedIsReported(t *testing.T) {
	t.Parallel()
	_, off := startNode(t)
	expect(t, off, func() { off.archive(t.Context()) }, "warn  archive: archive_mode is off", "fail  archive: archive_mode is off")

	n, d := startNode(t, "archive_mode = on", "archive_command = '/bin/true'")
	check := func() { d.archive(t.Context()) }
	expect(t, d, check, "warn  archive: archive_command keeps nothing", "fail  archive: archive_command keeps nothing")

	archived := func(command, want string) {
		t.Helper()
		changeSetting(t, n, "archive_command", command)
		var got string
		for ctx, end := context.WithTimeout(t.Context(), time.Minute); ; {
			d.pool.Reset() // a session that is open reads the setting a moment later
			admin(t, n, "SELECT pg_logical_emit_message(true, 'test', '')", "SELECT pg_switch_wal()")
			d.report = &report{}
			check()
			if got = d.findings[0].line(); strings.HasPrefix(got, want) || ctx.Err() != nil {
				end()
				break
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	archived("test -n %f", "ok    archive: ")
	archived("false %p", "fail  archive: the last attempt failed, of 0000000")
	archived("test -n %f", "ok    archive: ")
}

// Old transaction ids are reported before PostgreSQL refuses to write.
func TestOldTransactionIDsAreReported(t *testing.T) {
	t.Parallel()
	n, d := startNode(t)
	const limit = 100_000
	check := func() { d.transactionIDs(t.Context(), ageLimits{warn: limit, fail: 2 * limit}) }
	expect(t, d, check, "ok    transaction ids: ", "ok    transaction ids: ")
	// Each block of its own takes an id.
	const burn = `DO $$ BEGIN FOR i IN 1..100000 LOOP BEGIN PERFORM pg_current_xact_id(); INSERT INTO burnt DEFAULT VALUES; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$`
	admin(t, n, "CREATE TABLE burnt ()", burn)
	expect(t, d, check, "warn  transaction ids: the oldest is 0 million old", "warn  transaction ids: ")
	admin(t, n, burn)
	expect(t, d, check, "fail  transaction ids: the oldest is 0 million old", "fail  transaction ids: ")
}

// A replication slot that nobody reads from holds the log back until the disk is full.
func TestSlotThatHoldsTheLogBackIsReported(t *testing.T) {
	t.Parallel()
	n, d := startNode(t)
	const segment = 16 << 20
	check := func() { d.slots(t.Context(), slotLimits{warn: segment, fail: 3 * segment}) }
	expect(t, d, check, "ok    replication slots: 0,", "ok    replication slots: 0,")
	admin(t, n, "SELECT pg_create_physical_replication_slot('gone', true)")
	expect(t, d, check, "ok    replication slots: 1,", "ok    replication slots: 1,")
	more := []string{"SELECT pg_logical_emit_message(true, 'test', '')", "SELECT pg_switch_wal()"}
	admin(t, n, append(append([]string{}, more...), more...)...)
	expect(t, d, check, "warn  replication slots: gone holds ", "warn  replication slots: gone holds ")
	admin(t, n, append(append([]string{}, more...), more...)...)
	expect(t, d, check, "fail  replication slots: gone holds ", "fail  replication slots: gone holds ")
}

// Every host of the url is asked by itself: one that does not answer, a standby that is
// detached or behind, and two that accept writes are reported.
func TestEveryHostIsAsked(t *testing.T) {
	t.Parallel()
	n, d := startNode(t)
	second, port := startStandby(t, n)
	free, err := process.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	behind := int64(maxBehind)
	asked := func(hosts string) func() {
		cfg := config.Config{DatabaseURL: secret.Text(strings.Replace(n.Database(), fmt.Sprintf("127.0.0.1:%d", n.Port()), hosts, 1)), DatabaseRole: pg.Serve}
		return func() { d.hosts(t.Context(), cfg, behind) }
	}
	one := fmt.Sprintf("127.0.0.1:%d", n.Port())
	both := fmt.Sprintf("127.0.0.1:%d,%s", port, one)
	three := fmt.Sprintf("%s,127.0.0.1:%d", both, free)
	d.report = &report{}
	if asked(one)(); len(d.findings) != 0 {
		t.Errorf("one machine: %+v", d.findings)
	}
	expect(t, d, func() { d.strict = true; asked(one)() }, "fail  hosts: LINEPROOF_DATABASE_URL names one host", "fail  hosts: ")
	expect(t, d, asked(both), "ok    hosts: all 2 answer; "+one+" is the primary", "ok    hosts: all 2 answer")
	expect(t, d, asked(three), "warn  hosts: 1 of 3 do not answer: ", "fail  hosts: 1 of 3 do not answer: ")

	// Then the standby receives nothing more, and the primary writes on.
	if err := second.Admin(t.Context(), "ALTER SYSTEM SET primary_conninfo = ''"); err != nil {
		t.Fatal(err)
	}
	admin(t, second, "SELECT pg_reload_conf()")
	process.Until(t, "a standby that receives nothing is reported", func() bool {
		d.report = &report{}
		asked(both)()
		return strings.HasPrefix(d.findings[0].line(), "warn  hosts: standbys that receive nothing")
	})
	expect(t, d, asked(both), "warn  hosts: standbys that receive nothing from a primary: 127.0.0.1:", "fail  hosts: standbys that receive nothing")
	admin(t, n, "SELECT pg_logical_emit_message(true, 'test', '')", "SELECT pg_switch_wal()", "SELECT pg_logical_emit_message(true, 'test', '')")
	behind = 1 << 20
	d.report = &report{strict: true}
	if asked(both)(); len(d.findings) != 2 || !strings.HasPrefix(d.findings[1].line(), "fail  hosts: standbys that are behind: 127.0.0.1:") {
		t.Errorf("behind: %+v", d.findings)
	}

	if err := second.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	process.Until(t, "two primaries are reported", func() bool {
		d.report = &report{}
		asked(both)()
		return strings.Contains(d.findings[0].line(), "both accept writes")
	})
	n.Stop()
	expect(t, d, asked(both), "warn  hosts: 1 of 2 do not answer: ", "fail  hosts: 1 of 2 do not answer: ")
}

// A file system that is nearly full is reported, and a database that will soon have used
// what it may.
func TestDiskThatFillsIsReported(t *testing.T) {
	t.Parallel()
	r := &report{}
	for _, free := range []uint64{50, 7, 1} {
		r.judgeDiskSpace("disk", "LINEPROOF_DATA", diskSpace{free: free << 30, size: 100 << 30})
	}
	for i, want := range []string{"ok    disk: LINEPROOF_DATA: 50.0 GiB of 100.0 free (50 %)", "warn  disk: ", "fail  disk: "} {
		if got := r.findings[i].line(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	r = &report{}
	if r.disk(t.TempDir() + "/not/yet"); len(r.findings) != 1 || !strings.Contains(r.findings[0].Found, " free (") {
		t.Errorf("%+v", r.findings)
	}

	// As the owner of the server, on its machine, and as somebody who may not know where it is.
	n, d := startNode(t)
	expect(t, d, func() { d.databaseDisk(t.Context()) }, string(r.findings[0].Verdict), string(r.findings[0].Verdict))
	if found := d.findings[0].Found; !strings.Contains(found, "/data: ") {
		t.Errorf("of the database: %s", found)
	}
	admin(t, n, "CREATE ROLE plain LOGIN IN ROLE lineproof_serve")
	d.pool = pgtest.Open(t, strings.Replace(n.Database(), "postgres@", "plain@", 1), pg.Serve)
	expect(t, d, func() { d.databaseDisk(t.Context()) }, "ok    database disk: its free room cannot be seen from here", "warn  database disk: its free room")
	d.cfg.JournalDiskBytes = 1 << 40
	expect(t, d, func() { d.databaseDisk(t.Context()) }, "ok    database disk: ", "ok    database disk: ")
	d.cfg.JournalDiskBytes = 1 << 20
	expect(t, d, func() { d.databaseDisk(t.Context()) }, "fail  database disk: LINEPROOF_JOURNAL_DISK_BYTES lasts for 0 days", "fail  database disk: ")
}

// startStandby starts a standby with the name "second", and returns its port, too.
func startStandby(t *testing.T, n *pgtest.Node) (second *pgtest.Node, port int) {
	t.Helper()
	port, err := process.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err = n.Standby(t.Context(), "second", port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Stop)
	return second, port
}
