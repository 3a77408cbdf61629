package publiclog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// maxTile is more than the bytes of any tile: a bundle of 256 entries of the longest kind.
const maxTile = 256 << 16

func (p *Publisher) read(ctx context.Context, t merkle.Tile) ([]byte, error) {
	return ReadTile(ctx, p.Tiles, p.Log.Origin, t)
}

// ReadTile returns a published tile, or [blob.ErrNotFound].
func ReadTile(ctx context.Context, from blob.Store, origin string, t merkle.Tile) (content []byte, err error) {
	f, err := from.Open(ctx, t.Key(origin))
	if err != nil {
		return nil, fmt.Errorf("publiclog: open a tile: %w", err)
	}
	content, err = io.ReadAll(io.LimitReader(f, maxTile))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("publiclog: read a tile: %w", err)
	}
	return content, nil
}

// TileHashes reads the hashes of a tree from its published tiles. What is read is checked
// against the root.
func TileHashes(ctx context.Context, from blob.Store, origin string, tree tlog.Tree) tlog.HashReader {
	return tlog.TileHashReader(tree, &tileReader{ctx, from, origin})
}

// tileReader reads published tiles for package tlog.
type tileReader struct {
	ctx    context.Context //nolint:containedctx // its interface passes none
	from   blob.Store
	origin string
}

// Height implements tlog.TileReader.
func (*tileReader) Height() int { return 8 }

// ReadTiles implements tlog.TileReader.
func (r *tileReader) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, len(list))
	for i, one := range list {
		content, err := ReadTile(r.ctx, r.from, r.origin, merkle.Tile{Level: one.L, Index: one.N, Width: one.W})
		if err != nil {
			return nil, err
		}
		all[i] = content
	}
	return all, nil
}

// SaveTiles implements tlog.TileReader.
func (*tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
