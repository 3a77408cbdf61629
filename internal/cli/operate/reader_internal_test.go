package operate

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A standby that follows passes, and one that does not replay is behind.
func TestStandbyThatLagsIsReported(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	primary, standby := pgtest.StartPair(ctx, t)
	r := &report{}
	d := &databaseChecks{report: r, cfg: config.Config{ReadDatabaseURL: secret.Text(standby.Database()), DatabaseRole: pg.Serve}}
	check := func(want string) {
		t.Helper()
		for ctx.Err() == nil {
			r.findings = nil
			if d.reader(ctx, 0); len(r.findings) == 1 && strings.HasPrefix(r.findings[0].line(), want) {
				return
			}
		}
		t.Errorf("%+v, want %s", r.findings, want)
	}
	change := func(sql string) {
		t.Helper()
		if err := primary.Admin(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	change(`CREATE TABLE replayed ()`)
	check("ok    reader: a standby that follows")
	if err := standby.Admin(ctx, `SELECT pg_wal_replay_pause()`); err != nil {
		t.Fatal(err)
	}
	const paused = `DO $$ BEGIN IF pg_get_wal_replay_pause_state() <> 'paused' THEN RAISE EXCEPTION 'not yet'; END IF; END $$`
	for ctx.Err() == nil && standby.Admin(ctx, paused) != nil { // it pauses with the next change
		change(`COMMENT ON TABLE replayed IS 'changed'`)
	}
	change(`COMMENT ON TABLE replayed IS 'changed again'`)
	check("warn  reader: it is ")
}
