// This part of the package chains the audit trail by the hour, so that a change of what is over
// is found: for every hour it stores the number of its entries and a hash over them and
// over the hash of the hour before.
//
// Nobody but the owner of the database can change or delete entries, and the service cannot
// date them back. The chain finds it if somebody did. The owner could compute it anew, too;
// against that, keep the newest hash at another place, and give it to [CheckChain].

package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// ChainHash is the hash of an hour.
type ChainHash [sha256.Size]byte

// version begins what is hashed of an hour.
const version = "lineproof audit hour 1\n"

// sum reads the entries of an hour and returns how many there are and the hash of the hour.
func sum(ctx context.Context, from pg.DB, hour time.Time, previous ChainHash) (entries int64, hash ChainHash, err error) {
	var (
		id, subject            uuid.UUID
		at                     time.Time
		kind, action           string
		actor, entity, request uuid.NullUUID
		address, before, after *string
	)
	var hashes, scratch []byte
	err = pg.ForEach(ctx, from, []any{&id, &at, &kind, &actor, &action, &subject, &entity, &request, &address, &before, &after}, func() error {
		e := encoder{scratch[:0]}
		e.bytes(id[:])
		e.number(at.UnixMicro())
		e.bytes([]byte(kind))
		e.id(actor)
		e.bytes([]byte(action))
		e.bytes(subject[:])
		e.id(entity)
		e.id(request)
		e.text(address)
		e.text(before)
		e.text(after)
		scratch = e.to
		one := sha256.Sum256(e.to)
		hashes = append(hashes, one[:]...)
		entries++
		return nil
	}, `SELECT id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr::text, before::text, after::text
		FROM audit WHERE at >= $1 AND at < $1 + interval '1 hour' ORDER BY at, id`, hour)
	if err != nil {
		return 0, hash, fmt.Errorf("audit: read an hour: %w", err)
	}
	e := encoder{[]byte(version)}
	e.to = append(e.to, previous[:]...)
	e.number(hour.Unix())
	e.number(entries)
	return entries, sha256.Sum256(append(e.to, hashes...)), nil
}

// encoder writes fields so that different ones are never the same bytes: each has its
// length before it, and a missing one has the length of 2^32 - 1.
type encoder struct{ to []byte }

func (e *encoder) number(n int64) {
	e.to = binary.BigEndian.AppendUint64(e.to, uint64(n)) //nolint:gosec // two's complement is the format
}

func (e *encoder) bytes(b []byte) {
	e.to = append(binary.BigEndian.AppendUint32(e.to, uint32(len(b))), b...) //nolint:gosec // far below 2^32
}

func (e *encoder) missing() { e.to = binary.BigEndian.AppendUint32(e.to, 1<<32-1) }

func (e *encoder) id(id uuid.NullUUID) {
	if !id.Valid {
		e.missing()
		return
	}
	e.bytes(id.UUID[:])
}

func (e *encoder) text(s *string) {
	if s == nil {
		e.missing()
		return
	}
	e.bytes([]byte(*s))
}

const (
	// clockTolerance is how long after an hour the database accepts entries of it, with a reserve.
	clockTolerance = time.Minute + 10*time.Second
	// settleTime is how long Extend waits for transactions that may have an entry of the hour.
	settleTime = 20 * time.Second
	maxHours   = 1000 // that one call chains
)

// ErrChainBusy means that transactions in progress may still add to an hour. Try again later.
var ErrChainBusy = errors.New("audit: transactions in progress may still add entries to an hour that is over")

// ExtendChain chains the hours that are over and not chained yet, and returns how many it did.
// Two calls at the same time write the same.
func ExtendChain(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	next, hash, err := end(ctx, pool)
	if err != nil || next.IsZero() {
		return 0, err
	}
	now, err := settle(ctx, pool)
	if err != nil {
		return 0, err
	}
	done := 0
	for ; done < maxHours && !next.Add(time.Hour+clockTolerance).After(now); next = next.Add(time.Hour) {
		var entries int64
		if entries, hash, err = sum(ctx, pool, next, hash); err != nil {
			return done, err
		}
		if _, err := pool.Exec(ctx, `INSERT INTO audit_hour (hour, entries, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, next, entries, hash[:]); err != nil {
			return done, fmt.Errorf("audit: store an hour: %w", err)
		}
		done++
	}
	return done, nil
}

// end returns the hour that follows the chain, and its last hash. The chain begins with the
// hour of the first entry; without one, the hour is zero.
func end(ctx context.Context, pool *pgxpool.Pool) (next time.Time, hash ChainHash, err error) {
	var last []byte
	err = pool.QueryRow(ctx, `SELECT hour, hash FROM audit_hour ORDER BY hour DESC LIMIT 1`).Scan(&next, &last)
	if err == nil {
		copy(hash[:], last)
		return next.UTC().Add(time.Hour), hash, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return next, hash, fmt.Errorf("audit: read the end: %w", err)
	}
	next, err = firstHour(ctx, pool)
	return next, hash, err
}

// firstHour returns the hour of the first entry of the trail, or zero.
func firstHour(ctx context.Context, from pg.DB) (time.Time, error) {
	var first *time.Time
	if err := from.QueryRow(ctx, `SELECT min(at) FROM audit`).Scan(&first); err != nil {
		return time.Time{}, fmt.Errorf("audit: read the first entry: %w", err)
	}
	if first == nil {
		return time.Time{}, nil
	}
	return first.UTC().Truncate(time.Hour), nil
}

// settle returns the database's time once every transaction that was in progress then has
// ended: one could have an entry that is not visible yet.
func settle(ctx context.Context, pool *pgxpool.Pool) (now time.Time, err error) {
	var id string // of a transaction that begins after all of them
	if err := pool.QueryRow(ctx, `SELECT clock_timestamp(), pg_current_xact_id()::text`).Scan(&now, &id); err != nil {
		return now, fmt.Errorf("audit: read the clock: %w", err)
	}
	deadline := time.After(settleTime)
	for {
		var settled bool
		if err := pool.QueryRow(ctx, `SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8`, id).Scan(&settled); err != nil {
			return now, fmt.Errorf("audit: read the transactions in progress: %w", err)
		}
		if settled {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, fmt.Errorf("audit: wait for transactions: %w", ctx.Err())
		case <-deadline:
			return now, ErrChainBusy
		case <-time.After(100 * time.Millisecond):
		}
	}
}
