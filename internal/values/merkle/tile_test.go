package merkle_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// files are the tiles of a log by their path. A tile that is written twice must be the same.
type files map[string][]byte

func (f files) put(t merkle.Tile, content []byte) error {
	if old, ok := f[t.Path()]; ok && !bytes.Equal(old, content) {
		return fmt.Errorf("%s has two contents", t.Path())
	}
	f[t.Path()] = bytes.Clone(content)
	return nil
}

func (f files) read(t merkle.Tile) ([]byte, error) {
	content, ok := f[t.Path()]
	if !ok {
		return nil, fmt.Errorf("%s does not exist", t.Path())
	}
	return bytes.Clone(content), nil
}

func entry(n int64) []byte { return fmt.Appendf(nil, "entry %d", n) }

// A log that grows in steps, with a new writer for each, has the tiles of another
// implementation at every size at which it was flushed, and its root.
func TestTilesAreThoseOfTheSumDB(t *testing.T) {
	t.Parallel()
	const most = 70_000 // three levels
	all := files{}
	var hashes logtest.Hashes
	w, size, step := &merkle.TileWriter{}, int64(0), int64(1)
	for size < most {
		next := min(size+step, most)
		for ; size < next; size++ {
			if err := w.Add(entry(size), all.put); err != nil {
				t.Fatal(err)
			}
			hashes = hashes.With(t, size, entry(size))
		}
		step = step*3/2 + 1
		if err := w.Flush(all.put); err != nil {
			t.Fatal(err)
		}
		want, err := tlog.TreeHash(size, hashes)
		if err != nil {
			t.Fatal(err)
		}
		if root, err := w.Root(); err != nil || root != merkle.Hash(want) {
			t.Fatalf("at size %d the root is %x, %v; want %x", size, root, err, want)
		}
		compare(t, all, hashes, size)
		if w, err = merkle.ResumeTiles(size, all.read); err != nil || w.Size() != size {
			t.Fatalf("resume at %d: %v", size, err)
		}
	}
}

// compare compares the tiles of a size with those that sumdb computes.
func compare(t *testing.T, all files, hashes logtest.Hashes, size int64) {
	t.Helper()
	for _, tile := range tlog.NewTiles(8, 0, size) {
		want, err := tlog.ReadTileData(tile, hashes)
		if err != nil {
			t.Fatal(err)
		}
		path := merkle.Tile{Level: tile.L, Index: tile.N, Width: tile.W}.Path()
		if got, ok := all[path]; !ok || !bytes.Equal(got, want) {
			t.Fatalf("at size %d, %s is missing (%v) or another one", size, path, !ok)
		}
	}
	for n := int64(0); n < size; n += 256 {
		width := min(256, size-n)
		var want []byte
		for i := range width {
			want = append(binary.BigEndian.AppendUint16(want, uint16(len(entry(n+i)))), entry(n+i)...)
		}
		path := merkle.Tile{Level: merkle.Bundle, Index: n / 256, Width: int(width)}.Path()
		if !bytes.Equal(all[path], want) {
			t.Fatalf("at size %d, %s is another one", size, path)
		}
	}
}

// A path has one spelling, and every other text is refused.
func TestPathsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for tile, path := range map[merkle.Tile]string{
		{Level: 0, Index: 0, Width: 256}:                   "tile/0/000",
		{Level: 0, Index: 1234067, Width: 256}:             "tile/0/x001/x234/067",
		{Level: 3, Index: 273, Width: 1}:                   "tile/3/273.p/1",
		{Level: merkle.Bundle, Index: 99999, Width: 255}:   "tile/entries/x099/999.p/255",
		{Level: merkle.Bundle, Index: 1000000, Width: 256}: "tile/entries/x001/x000/000",
	} {
		if tile.Path() != path {
			t.Errorf("the path of %+v is %s, want %s", tile, tile.Path(), path)
		}
		if got, ok := merkle.ParseTile(path); !ok || got != tile {
			t.Errorf("%s is read as %+v, %v", path, got, ok)
		}
	}
	for _, path := range []string{
		"", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000/000", "tile/00/000", "tile/+0/000", "tile/6/000", "tile/-1/000", "tile/0/-01",
		"tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/", "tile/0/000.p", "tile/0/001/234", "tile/0/x001/x234", "tile/0/000/", "/tile/0/000", "0/000",
		"tile/data/000", "tile/entries", "tile/0/999999999999999999999999999999", "tile/0/x999/x999/x999/x999/x999/x999/x999/999", "tile/0/000.p/1.p/1", "tile/0/../0/000", "tile/0/x0x/000",
	} {
		if got, ok := merkle.ParseTile(path); ok {
			t.Errorf("%q is read as %+v", path, got)
		}
	}
}

// Tiles of different logs, and different tiles, have different keys, which are UUIDs.
func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, origin := range []string{"a.example/log", "b.example/log"} {
		for _, tile := range []merkle.Tile{{Width: 256}, {Width: 255}, {Index: 1, Width: 256}, {Level: 1, Width: 256}, {Level: merkle.Bundle, Width: 256}} {
			key := tile.Key(origin)
			if seen[key] || len(key) != 36 || key[14] != '8' {
				t.Errorf("the key of %s is %s", tile.Path(), key)
			}
			seen[key] = true
		}
	}
}
