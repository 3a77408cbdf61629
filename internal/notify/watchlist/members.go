package watchlist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// blocksAtOnce is how many blocks of a list one query reads.
const blocksAtOnce = 1_000

// ErrChanged reports a list that was changed while its members were read.
var ErrChanged = fault.New(fault.Aborted, "The watch-list was changed while it was read. Read it again.")

// Members calls fn with the members of a list of its own organisation, ascending, part by
// part, and at least once. It ends with ErrChanged if the list changes meanwhile.
func (s *Service) Members(ctx context.Context, o Owner, id uuid.UUID, fn func([]phone.Number) error) error {
	l, blocks, err := s.version(ctx, o, id)
	if err != nil {
		return err
	}
	if l.Members == 0 {
		return fn(nil)
	}
	keys, err := s.keys(ctx, blocks)
	if err != nil {
		return err
	}
	var read Digest
	for part := range slices.Chunk(keys, blocksAtOnce) {
		var numbers []phone.Number
		var key int64
		var text []byte
		err := pg.ForEach(ctx, s.Pool, []any{&key, &text}, func() error {
			b := decode(text)
			read.toggle(key, &b)
			b.each(func(rest int) {
				n, _ := phone.FromInt(key*perBlock + int64(rest))
				numbers = append(numbers, n)
			})
			return nil
		}, `SELECT block, members FROM watch_block WHERE `+ofList+` AND block = ANY($2) ORDER BY block`, blocks, part)
		if err != nil {
			return fmt.Errorf("watchlist: read members: %w", err)
		}
		if len(numbers) > 0 {
			if err := fn(numbers); err != nil {
				return err
			}
		}
	}
	switch now, last, err := s.version(ctx, o, id); {
	case err != nil && !errors.Is(err, ErrNoList):
		return err
	case err != nil || now.Digest != read || last != blocks: // a list that is replaced by itself has other blocks
		return ErrChanged
	}
	return nil
}

// keys returns the blocks of a list, ascending. A part of a list is read by them: nothing
// is in the order of lists and blocks, and a query that a slow reader keeps open would keep
// a connection.
func (s *Service) keys(ctx context.Context, blocks int32) ([]int64, error) {
	keys, err := pg.Collect(ctx, s.Pool, pgx.RowTo[int64], `SELECT block FROM watch_block WHERE list = $1 ORDER BY block`, blocks)
	return keys, fault.Wrap(err, "watchlist: read members")
}

// version returns a list, and the number of its blocks.
func (s *Service) version(ctx context.Context, o Owner, id uuid.UUID) (l List, blocks int32, err error) {
	if l, err = s.List(ctx, o, id); err != nil {
		return l, 0, err
	}
	if err := s.Pool.QueryRow(ctx, `SELECT blocks FROM watch_list WHERE id = $1`, id).Scan(&blocks); err != nil {
		return l, 0, fmt.Errorf("watchlist: read a list: %w", err)
	}
	return l, blocks, nil
}
