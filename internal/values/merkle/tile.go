// This part of the package cuts the tree of the public log into tiles as c2sp.org/tlog-tiles
// describes: files that never change, from which anyone can compute every proof. A tile
// of level 0 has the hashes of up to 256 entries, a tile of a higher level those of up to
// 256 complete tiles of the level below. A bundle has the entries themselves.

package merkle

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

const (
	// fullWidth is the number of hashes of a complete tile, and of entries of a complete bundle.
	fullWidth = 256
	// Bundle is the level of a bundle of entries.
	Bundle = -1
	// maxLevel is the level of the only tile of 2^48 entries.
	maxLevel = 5
)

// Tile names a tile.
type Tile struct {
	Level int
	Index int64 // among the tiles of its level
	Width int   // how many hashes or entries it has, from 1 to 256
}

// Path returns the path of a tile below that of the log, such as tile/0/x001/234.p/12.
func (t Tile) Path() string {
	level := "entries"
	if t.Level != Bundle {
		level = strconv.Itoa(t.Level)
	}
	path := fmt.Sprintf("%03d", t.Index%1000)
	for n := t.Index / 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	path = "tile/" + level + "/" + path
	if t.Width < fullWidth {
		path += ".p/" + strconv.Itoa(t.Width)
	}
	return path
}

// ParseTile is the reverse of [Tile.Path]. It accepts no other spelling of a path.
func ParseTile(path string) (Tile, bool) {
	level, rest, _ := strings.Cut(strings.TrimPrefix(path, "tile/"), "/")
	t := Tile{Level: Bundle, Width: fullWidth}
	var err error
	if level != "entries" {
		if t.Level, err = strconv.Atoi(level); err != nil || t.Level < 0 || t.Level > maxLevel {
			return t, false
		}
	}
	if number, width, partial := strings.Cut(rest, ".p/"); partial {
		if t.Width, err = strconv.Atoi(width); err != nil || t.Width < 1 || t.Width >= fullWidth {
			return t, false
		}
		rest = number
	}
	if len(rest) > 30 {
		return t, false
	}
	digits := strings.ReplaceAll(strings.ReplaceAll(rest, "x", ""), "/", "")
	if t.Index, err = strconv.ParseInt(digits, 10, 64); err != nil || t.Index < 0 {
		return t, false
	}
	return t, t.Path() == path
}

// Key returns the key of a tile in a store of files, which is a UUID: the first 16 bytes
// of SHA-256 of the log's origin and the path.
func (t Tile) Key(origin string) string {
	hash := sha256.Sum256([]byte(origin + "/" + t.Path()))
	id := uuid.UUID(hash[:16])
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// Larger returns bundles that show that a log is larger than size: whatever its size is
// then, it has had one of them.
func Larger(size int64) (all []Tile) {
	for width := size%fullWidth + 1; width <= fullWidth; width++ {
		all = append(all, Tile{Bundle, size / fullWidth, int(width)})
	}
	return all
}

// First returns the index of the first entry of a bundle.
func (t Tile) First() int64 { return t.Index * fullWidth }

// ErrDamaged reports a bundle that does not consist of entries with their lengths.
var ErrDamaged = errors.New("merkle: the bundle is damaged")

// Entries returns the entries of a bundle.
func Entries(bundle []byte) (entries [][]byte, err error) {
	const length = 2
	for len(bundle) > 0 {
		if len(bundle) < length || len(bundle)-length < int(binary.BigEndian.Uint16(bundle)) {
			return nil, ErrDamaged
		}
		n := length + int(binary.BigEndian.Uint16(bundle))
		entries = append(entries, bundle[length:n:n])
		bundle = bundle[n:]
	}
	return entries, nil
}
