package logreceipt_test

import (
	"testing"
)

// The manifest of an archived day is read once for all receipts of the day, and what is kept
// is never that of an archive which was replaced.
func TestManifestIsReadOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	answers := e.answer(3)
	e.publish()
	e.archive()
	first, err := e.receipt(answers[0].RequestID)
	if err != nil {
		t.Fatal(err)
	}
	// The file is gone: whoever reads it again fails.
	var key string
	if err := e.pool.QueryRow(t.Context(), `SELECT manifest::text FROM journal_archive WHERE entries > 0`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	if err := e.maker.Archive.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	again, err := e.receipt(answers[0].RequestID)
	if err != nil || string(again) != string(first) {
		t.Errorf("the receipt is %s, %v; want %s", again, err, first)
	}
	if _, err := e.owner.Exec(t.Context(), `UPDATE journal_archive SET manifest = gen_random_uuid() WHERE entries > 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := e.maker.Find(t.Context(), answers[0].RequestID); err == nil {
		t.Error("the manifest of another archive was used")
	}
}
