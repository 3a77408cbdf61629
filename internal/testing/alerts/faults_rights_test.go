package alerts_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// faultsOfRights take rights away and hold locks.
func (s *site) faultsOfRights() []fault {
	end := func() {}
	mend := func(context.Context) error { end(); return nil }
	sql := func(text string) func(context.Context) error {
		return func(ctx context.Context) error { return s.sql(ctx, text) }
	}
	return []fault{
		{
			"the rights to record are gone", "LineproofJournalRefuses", true,
			sql(`REVOKE INSERT ON journal_entry, journal_batch FROM lineproof_serve`), sql(`GRANT INSERT ON journal_entry, journal_batch TO lineproof_serve`),
		},
		{
			"a session locks the journal again and again", "LineproofVerifySlow", true,
			func(ctx context.Context) error {
				return repeat(ctx, &end, func(ctx context.Context) {
					_ = s.sql(ctx, `BEGIN; LOCK TABLE journal_batch IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.4); COMMIT`)
				})
			}, mend,
		},
		{
			"the rights to publish the log are gone", "LineproofLogFails LineproofCheckpointLate", true,
			sql(`REVOKE UPDATE (note), UPDATE (published), UPDATE (written), UPDATE (at) ON log_published FROM lineproof_serve`),
			sql(`GRANT UPDATE (note), UPDATE (published), UPDATE (written), UPDATE (at) ON log_published TO lineproof_serve`),
		},
		{
			"the rights of a job are gone", "LineproofJobFails", false,
			sql(`REVOKE INSERT, UPDATE, DELETE, SELECT ON journal_minute FROM lineproof_serve`),
			sql(`GRANT INSERT, UPDATE, DELETE, SELECT ON journal_minute TO lineproof_serve`),
		},
	}
}

// faultsOfPeople are what callers and operators do.
func (s *site) faultsOfPeople() []fault {
	var stop context.CancelFunc
	var guessing sync.WaitGroup
	return []fault{
		{
			"an operator sends half a file", "LineproofImportHeld", false,
			func(ctx context.Context) error {
				file := filepath.Join(s.dir, "mtn.csv")
				if err := os.WriteFile(file, []byte("number,tenureStart,simChangedAt,state,stateSince\n08031234567,2021-03-01,NEVER,ACTIVE,\n"), 0o600); err != nil {
					return err
				}
				text, err := s.command(ctx, "lines", "import", "--network", "MTN", "--kind", "snapshot", "--as-of", time.Now().UTC().Format(time.RFC3339), file)
				if err != nil && !strings.Contains(text+err.Error(), "held") {
					return err
				}
				return nil
			},
			func(ctx context.Context) error {
				held, err := s.heldImport(ctx)
				if err != nil {
					return err
				}
				_, err = s.command(ctx, "lines", "cancel", held)
				return err
			},
		},
		{
			"a network guesses keys", "LineproofGuessing", false,
			func(ctx context.Context) error {
				ctx, stop = context.WithCancel(ctx)
				for range 3 {
					guessing.Go(func() { s.guess(ctx) })
				}
				return nil
			},
			func(context.Context) error { stop(); guessing.Wait(); return nil },
		},
	}
}

// withComment adds a text to a picture, in a chunk before its end.
func withComment(picture []byte, text string) []byte {
	const end = 12 // the length of the last chunk
	body, tail := picture[:len(picture)-end], picture[len(picture)-end:]
	remark := fmt.Appendf(nil, "tEXtComment\x00%s", text)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(remark)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, remark...), crc32.ChecksumIEEE(remark))
	return slices.Concat(body, chunk, tail)
}
