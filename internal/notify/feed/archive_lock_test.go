package feed_test

import (
	"context"
	"testing"
	"time"
)

// Feeds are read and get entries while an old day is counted and recorded: only its end
// locks them.
func TestArchivingHoldsUpNobody(t *testing.T) {
	t.Parallel()
	e := newArchiveEnv(t)
	bank := e.bank()
	day := e.told(bank, 100, secret)
	tx, err := e.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// As long as somebody has this lock, the day can't be counted to be dropped.
	if _, err := tx.Exec(t.Context(), `LOCK TABLE feed_entry_`+day.Format("20060102")+` IN ROW EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	archived := make(chan error, 1)
	go func() {
		_, err := e.Archive.Archive(t.Context(), day)
		archived <- err
	}()
	for waits := false; !waits; {
		if err := e.serve.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if entries, err := e.feed.After(ctx, bank, 0, 10); err != nil || len(entries) != 1 {
		t.Errorf("meanwhile %d entries, %v", len(entries), err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-archived; err != nil {
		t.Error(err)
	}
}
