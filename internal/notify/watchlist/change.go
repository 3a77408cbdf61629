package watchlist

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// MaxChange is how many numbers one call may add and remove.
const MaxChange = 10_000

// stored is a list whose row is locked.
type stored struct {
	List
	sample

	blocks  int32
	judgeAt time.Time // when the verdict takes effect; zero if none waits
	toHold  bool      // what it will be
}

// lock reads and locks the row of a list, so that its changes come one after the other.
func lock(ctx context.Context, tx pg.Tx, o *Owner, id uuid.UUID) (l stored, err error) {
	var digest []byte
	var judgeAt *time.Time
	err = tx.QueryRow(ctx, `SELECT `+listColumns+`, blocks, sampled, missing, uncovered, judge_at, to_hold FROM watch_list WHERE id = $1 AND entity_id = $2 AND mode = $3 FOR UPDATE`,
		id, o.Entity, o.Mode).Scan(&l.ID, &l.Name, &l.State, &l.Members, &digest, &l.EffectiveFrom, &l.CreatedAt, &l.ChangedAt, &l.blocks, &l.sampled, &l.missing, &l.uncovered, &judgeAt, &l.toHold)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, ErrNoList
	}
	if err != nil {
		return l, fmt.Errorf("watchlist: lock a list: %w", err)
	}
	if judgeAt != nil {
		l.judgeAt = judgeAt.UTC()
	}
	copy(l.Digest[:], digest)
	l.CreatedAt, l.ChangedAt = l.CreatedAt.UTC(), l.ChangedAt.UTC()
	return l, nil
}

// save writes the row of a list, and lets it take effect: changes that the reader of the
// outbox has not read yet are matched with the list as it is now. The reader waits
// from here on until the transaction ends.
func (l *stored) save(ctx context.Context, tx pg.Tx) (err error) {
	if l.EffectiveFrom, err = outbox.LockMark(ctx, tx); err != nil {
		return err
	}
	var judgeAt *time.Time
	if !l.judgeAt.IsZero() {
		judgeAt = &l.judgeAt
	}
	_, err = tx.Exec(ctx, `UPDATE watch_list SET blocks = $2, members = $3, digest = $4, state = $5, sampled = $6, missing = $7, uncovered = $8, effective_from = $9,
		changed_at = $10, judge_at = $11, to_hold = $12 WHERE id = $1`, l.ID, l.blocks, l.Members, l.Digest[:], l.State, l.sampled, l.missing, l.uncovered, l.EffectiveFrom, l.ChangedAt, judgeAt, l.toHold)
	return fault.Wrap(err, "watchlist: save a list")
}

// Change adds and removes numbers, all or none. A number that is already there, or is not
// there, is no error. One that is in both is in the list afterwards.
func (s *Service) Change(ctx context.Context, o Owner, id uuid.UUID, add, remove []phone.Number) (List, error) {
	if len(add)+len(remove) > MaxChange {
		return List{}, fault.ErrInvalid.With(fault.Violation{
			Field: "add", Code: fault.TooLong,
			Message: "Send at most " + strconv.Itoa(MaxChange) + " numbers at a time, or replace the whole list.",
		})
	}
	var l stored
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) (err error) {
		if l, err = lock(ctx, tx, &o, id); err != nil {
			return err
		}
		l.ChangedAt = s.now()
		before, err := l.read(ctx, tx, slices.Concat(add, remove))
		if err != nil {
			return err
		}
		after := maps.Clone(before)
		for _, n := range remove {
			key, rest := place(n)
			b := after[key]
			b.remove(rest)
			after[key] = b
		}
		for _, n := range add {
			key, rest := place(n)
			b := after[key]
			b.add(rest)
			after[key] = b
		}
		if err := s.spend(ctx, tx, &o, entering(ctx, before, after)); err != nil {
			return err
		}
		if err := s.judge(ctx, tx, &o, &l, entering(ctx, before, after)); err != nil {
			return err
		}
		if err := l.write(ctx, tx, before, after); err != nil {
			return err
		}
		return l.save(ctx, tx)
	})
	if err != nil {
		return List{}, err
	}
	return l.List, nil
}

// ofList finds some blocks of the list $1 by the blocks. By the list all its blocks would be
// read, and PostgreSQL has no statistics yet of a list that was just replaced.
const ofList = `list + 0 = $1`

// read returns the blocks that have these numbers, also those that are empty.
func (l *stored) read(ctx context.Context, tx pg.Tx, numbers []phone.Number) (map[int64]block, error) {
	found := make(map[int64]block)
	for _, n := range numbers {
		key, _ := place(n)
		found[key] = block{}
	}
	var key int64
	var text []byte
	err := pg.ForEach(ctx, tx, []any{&key, &text}, func() error {
		found[key] = decode(text)
		return nil
	}, `SELECT block, members FROM watch_block WHERE `+ofList+` AND block = ANY($2)`, l.blocks, slices.Collect(maps.Keys(found)))
	return found, fault.Wrap(err, "watchlist: read blocks")
}

// entering returns the numbers that are in the blocks after a change and were not before,
// in the order of the blocks. It stops with ctx: every statement that follows fails then,
// so nothing is counted or judged by a part.
func entering(ctx context.Context, before, after map[int64]block) iter.Seq[phone.Number] {
	keys := slices.Sorted(maps.Keys(after))
	return func(yield func(phone.Number) bool) {
		for _, key := range keys {
			b := after[key]
			for i, old := range before[key] {
				b[i] &^= old
			}
			stopped := false
			b.each(func(rest int) {
				if n, ok := phone.FromInt(key*perBlock + int64(rest)); ok && !stopped {
					stopped = !yield(n)
				}
			})
			if stopped || ctx.Err() != nil {
				return
			}
		}
	}
}

func isEmpty(numbers iter.Seq[phone.Number]) bool {
	for range numbers {
		return false
	}
	return true
}

// write stores the blocks that have changed. The row of the list is locked, so that nobody
// else adds the same block.
func (l *stored) write(ctx context.Context, tx pg.Tx, before, after map[int64]block) error {
	var added, changed, gone []int64
	var addedTexts, changedTexts [][]byte
	for _, key := range slices.Sorted(maps.Keys(after)) { // at most those of one call
		old, b := before[key], after[key]
		if old == b {
			continue
		}
		l.Members += int64(b.count() - old.count())
		l.Digest.toggle(key, &old)
		l.Digest.toggle(key, &b)
		switch text := b.encode(); {
		case text == nil:
			gone = append(gone, key)
		case old == (block{}):
			added, addedTexts = append(added, key), append(addedTexts, text)
		default:
			changed, changedTexts = append(changed, key), append(changedTexts, text)
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO watch_block (block, list, members) SELECT b, $1, m FROM unnest($2::bigint[], $3::bytea[]) AS t (b, m)`, l.blocks, added, addedTexts)
	batch.Queue(`UPDATE watch_block SET members = t.m FROM unnest($2::bigint[], $3::bytea[]) AS t (b, m) WHERE block = t.b AND `+ofList, l.blocks, changed, changedTexts)
	batch.Queue(`DELETE FROM watch_block WHERE `+ofList+` AND block = ANY($2)`, l.blocks, gone)
	return fault.Wrap(tx.SendBatch(ctx, batch).Close(), "watchlist: write blocks")
}

// Replace makes numbers the whole list. The new list is built beside the old one and
// takes its place at once. With dryRun nothing is stored and no line is looked up: the
// result has the members and the digest that the list would have, and is otherwise the
// list as it is stored. So a dry run, which spends nothing, tells nothing about lines.
func (s *Service) Replace(ctx context.Context, o Owner, id uuid.UUID, numbers iter.Seq2[phone.Number, error], dryRun bool) (List, error) {
	after := make(map[int64]block)
	for n, err := range numbers {
		if err != nil {
			return List{}, err
		}
		key, rest := place(n)
		b := after[key]
		b.add(rest)
		after[key] = b
	}
	var l stored
	err := pg.InLongTx(ctx, s.Pool, func(tx pg.Tx) (err error) {
		if _, err := tx.Exec(ctx, noTimeout); err != nil {
			return fmt.Errorf("watchlist: replace a list: %w", err)
		}
		if l, err = lock(ctx, tx, &o, id); err != nil {
			return err
		}
		before, err := l.readAll(ctx, tx)
		if err != nil {
			return err
		}
		if dryRun {
			return s.dryRun(ctx, tx, &o, &l, before, after)
		}
		l.ChangedAt = s.now()
		if err := s.spend(ctx, tx, &o, entering(ctx, before, after)); err != nil {
			return err
		}
		// The new list is judged as a whole. If nothing enters there is nothing to judge: a
		// list that staff have released may be sent again.
		if !isEmpty(entering(ctx, before, after)) {
			l.sample, l.toHold = sample{}, false
			if err := s.judge(ctx, tx, &o, &l, entering(ctx, nil, after)); err != nil {
				return err
			}
		}
		l.Members, l.Digest = 0, Digest{}
		old := l.blocks
		if err := tx.QueryRow(ctx, `SELECT nextval('watch_block_list')`).Scan(&l.blocks); err != nil {
			return fmt.Errorf("watchlist: replace a list: %w", err)
		}
		if err := l.copyBlocks(ctx, tx, after); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM watch_block WHERE list = $1`, old); err != nil {
			return fmt.Errorf("watchlist: replace a list: %w", err)
		}
		if err := l.save(ctx, tx); err != nil {
			return err
		}
		return tell(ctx, tx, o.feed(), &l.List, l.ChangedAt)
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return List{}, err
	}
	return l.List, nil
}

// noTimeout lets statements about a whole list take as long as they need, and so the work
// between them: hashing a hundred million numbers takes longer than a transaction may idle.
const noTimeout = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`

// errDryRun rolls a dry run back: to check the budget stores what is counted.
var errDryRun = errors.New("watchlist: a dry run stores nothing")

// dryRun checks the budget, and sets the members and the digest that the list would have.
func (s *Service) dryRun(ctx context.Context, tx pg.Tx, o *Owner, l *stored, before, after map[int64]block) error {
	if err := s.spend(ctx, tx, o, entering(ctx, before, after)); err != nil {
		return err
	}
	l.Members, l.Digest = 0, Digest{}
	for key, b := range after {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.Members += int64(b.count())
		l.Digest.toggle(key, &b)
	}
	return errDryRun
}

func (l *stored) readAll(ctx context.Context, tx pg.Tx) (map[int64]block, error) {
	found := make(map[int64]block)
	var key int64
	var text []byte
	err := pg.ForEach(ctx, tx, []any{&key, &text}, func() error {
		found[key] = decode(text)
		return nil
	}, `SELECT block, members FROM watch_block WHERE list = $1`, l.blocks)
	return found, fault.Wrap(err, "watchlist: read a list")
}

// copyBlocks stores all blocks of a list under a new number.
func (l *stored) copyBlocks(ctx context.Context, tx pg.Tx, after map[int64]block) error {
	keys := slices.Sorted(maps.Keys(after))
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"watch_block"}, []string{"block", "list", "members"}, pgx.CopyFromSlice(len(keys), func(i int) ([]any, error) {
		b := after[keys[i]]
		l.Members += int64(b.count())
		l.Digest.toggle(keys[i], &b)
		return []any{keys[i], l.blocks, b.encode()}, nil
	}))
	return fault.Wrap(err, "watchlist: write blocks")
}
