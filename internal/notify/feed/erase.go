package feed

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Key identifies an entry over all epochs.
type Key struct {
	Owner

	Epoch int
	Seq   int64
}

// Erase erases the bodies of entries: their digests stay, so that the chain can be checked.
// It returns the tables that must be written anew, because their files still have the
// bodies. From must have the rights of the owner.
func Erase(ctx context.Context, from pg.DB, keys []Key) (tables []string, err error) {
	var entities []uuid.UUID
	var modes []string
	var epochs, seqs []int64
	for _, k := range keys {
		entities, modes = append(entities, k.Entity), append(modes, k.Mode)
		epochs, seqs = append(epochs, int64(k.Epoch)), append(seqs, k.Seq)
	}
	tables, err = pg.Collect(ctx, from, pgx.RowTo[string], `WITH erased AS (
		UPDATE feed_entry e SET digest = sha256(e.body), body = NULL, number = NULL FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) AS t (entity, mode, epoch, seq)
		WHERE e.entity_id = t.entity AND e.mode = t.mode AND e.seq = t.seq AND e.epoch = t.epoch AND e.body IS NOT NULL RETURNING e.tableoid)
		SELECT DISTINCT c.relname::text FROM erased JOIN pg_class c ON c.oid = erased.tableoid`, entities, modes, epochs, seqs)
	return tables, fault.Wrap(err, "feed: erase entries")
}
