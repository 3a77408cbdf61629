package merkle

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// TileWriter cuts a log into tiles while entries are added to it.
type TileWriter struct {
	size   int64
	bundle []byte   // the entries of the incomplete bundle
	levels [][]byte // the hashes of the incomplete tile of each level
}

// emit is called with every tile: complete ones as they become complete, and incomplete
// ones by Flush.
type emit = func(t Tile, content []byte) error

// ResumeTiles returns a writer for a log of that size. It reads the incomplete tiles of that
// size, which must exist.
func ResumeTiles(size int64, read func(Tile) ([]byte, error)) (*TileWriter, error) {
	w := &TileWriter{size: size}
	for _, t := range w.incomplete() {
		content, err := read(t)
		if err != nil {
			return nil, fmt.Errorf("merkle: read %s: %w", t.Path(), err)
		}
		if t.Level == Bundle {
			w.bundle = content
			continue
		}
		if len(content) != t.Width*sha256.Size {
			return nil, fmt.Errorf("merkle: %s has %d bytes", t.Path(), len(content))
		}
		for len(w.levels) <= t.Level {
			w.levels = append(w.levels, nil)
		}
		w.levels[t.Level] = content
	}
	return w, nil
}

// Size returns the number of entries.
func (w *TileWriter) Size() int64 { return w.size }

// incomplete returns the incomplete tiles of the size.
func (w *TileWriter) incomplete() (all []Tile) {
	for level, nodes := 0, w.size; nodes > 0; level, nodes = level+1, nodes/fullWidth {
		t := Tile{level, nodes / fullWidth, int(nodes % fullWidth)}
		if t.Width == 0 {
			continue
		}
		all = append(all, t)
		if level == 0 {
			all = append(all, Tile{Bundle, t.Index, t.Width})
		}
	}
	return all
}

var errLong = errors.New("merkle: an entry has more than 65,535 bytes")

// Add adds an entry.
func (w *TileWriter) Add(entry []byte, emit emit) error {
	if len(entry) > math.MaxUint16 {
		return errLong
	}
	w.bundle = append(binary.BigEndian.AppendUint16(w.bundle, uint16(len(entry))), entry...) //nolint:gosec // checked above
	if (w.size+1)%fullWidth == 0 {
		if err := emit(Tile{Bundle, w.size / fullWidth, fullWidth}, w.bundle); err != nil {
			return err
		}
		w.bundle = nil
	}
	hash, nodes := HashLeaf(entry), w.size
	w.size++
	for level := 0; ; level, nodes = level+1, nodes/fullWidth {
		if level == len(w.levels) {
			w.levels = append(w.levels, nil)
		}
		w.levels[level] = append(w.levels[level], hash[:]...)
		if len(w.levels[level]) < fullWidth*sha256.Size {
			return nil
		}
		if err := emit(Tile{level, nodes / fullWidth, fullWidth}, w.levels[level]); err != nil {
			return err
		}
		hash = treeOf(w.levels[level]).Root()
		w.levels[level] = nil
	}
}

// Flush emits the incomplete tiles of the size.
func (w *TileWriter) Flush(emit emit) error {
	for _, t := range w.incomplete() {
		content := w.bundle
		if t.Level != Bundle {
			content = w.levels[t.Level]
		}
		if err := emit(t, content); err != nil {
			return err
		}
	}
	return nil
}

// Root returns the root of the whole tree, computed from the incomplete tiles alone.
func (w *TileWriter) Root() (Hash, error) {
	var edge []byte
	for _, hashes := range slices.Backward(w.levels) {
		edge = append(edge, treeOf(hashes).Edge()...)
	}
	tree, err := Resume(uint64(w.size), edge) //nolint:gosec // never negative
	if err != nil {
		return Hash{}, fmt.Errorf("merkle: %w", err)
	}
	return tree.Root(), nil
}

// treeOf returns the tree over hashes.
func treeOf(hashes []byte) *Tree {
	tree := &Tree{}
	for ; len(hashes) > 0; hashes = hashes[sha256.Size:] {
		tree.AddHash(Hash(hashes[:sha256.Size]))
	}
	return tree
}
