package monitor

import (
	"context"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// published reads the hashes of a tree from the tiles that a log publishes, and checks all
// of them against the root.
type published struct {
	tlog.HashReader

	tiles *tiles
}

func (m *Monitor) published(ctx context.Context, tree tlog.Tree) *published {
	t := &tiles{ctx: ctx, from: m.Source}
	return &published{tlog.TileHashReader(tree, t), t}
}

// judge returns an error of the network as it is, and everything else as a violation: the
// log has published tiles that do not belong to its tree.
func (p *published) judge(err error, format string, args ...any) error {
	switch {
	case err == nil:
		return nil
	case p.tiles.failed != nil:
		return p.tiles.failed
	}
	return violation(format, args...)
}

// tiles reads tiles for package tlog.
type tiles struct {
	ctx    context.Context //nolint:containedctx // its interface passes none
	from   Source
	failed error // of the network
}

// Height implements tlog.TileReader.
func (*tiles) Height() int { return tileHeight }

// tileHeight is that of c2sp.org/tlog-tiles: 256 hashes.
const tileHeight = 8

// ReadTiles implements tlog.TileReader.
func (t *tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, len(list))
	for i, one := range list {
		content, err := t.from.Tile(t.ctx, merkle.Tile{Level: one.L, Index: one.N, Width: one.W})
		if err != nil {
			t.failed = err
			return nil, err
		}
		all[i] = content
	}
	return all, nil
}

// SaveTiles implements tlog.TileReader.
func (*tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// checkTiles checks the tiles of hashes that belong to the tree and not to one of size
// old: others compute their proofs from them.
func (m *Monitor) checkTiles(ctx context.Context, old int64, tree tlog.Tree) error {
	const atOnce = 256
	var indexes []int64
	from := m.published(ctx, tree)
	check := func() error {
		_, err := from.ReadHashes(indexes)
		indexes = indexes[:0]
		return from.judge(err, "a tile of the tree of size %d has other hashes than its entries", tree.N)
	}
	for _, t := range tlog.NewTiles(tileHeight, old, tree.N) {
		// To read one hash of a tile is to check all of it.
		indexes = append(indexes, tlog.StoredHashIndex(t.L*tileHeight, t.N<<tileHeight))
		if len(indexes) == atOnce {
			if err := check(); err != nil {
				return err
			}
		}
	}
	if len(indexes) == 0 {
		return nil
	}
	return check()
}
