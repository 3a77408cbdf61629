package inspect

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The tags of TIFF that matter here.
const (
	tiffWidth           = 256
	tiffHeight          = 257
	tiffBits            = 258
	tiffCompression     = 259
	tiffFillOrder       = 266
	tiffStripOffsets    = 273
	tiffSamples         = 277
	tiffRowsPerStrip    = 278
	tiffStripCounts     = 279
	tiffPlanar          = 284
	tiffT4Options       = 292
	tiffTileWidth       = 322
	tiffTileHeight      = 323
	tiffTileOffsets     = 324
	tiffTileCounts      = 325
	tiffSubIFDs         = 330
	tiffJPEGTables      = 347
	tiffOldJPEG         = 513
	tiffOldJPEGLength   = 514
	tiffExif            = 34665
	tiffGPS             = 34853
	tiffInterop         = 40965
	tiffMaxDirectories  = 1000
	tiffMaxEntries      = 4096
	tiffMaxStrips       = 1 << 20
	tiffDirectoryHeader = 2
	tiffEntry           = 12
)

// tiffTypes is the size of a value of each type, in bytes.
var tiffTypes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4}

// tiffReader reads a TIFF and records which bytes are used.
type tiffReader struct {
	data    []byte
	order   binary.ByteOrder
	seen    map[int64]bool // directories
	covered []tiffSpan
	all     imageTotals
}

// tiffSpan is a range of bytes that something in the file refers to.
type tiffSpan struct{ from, to int64 }

// tiffValue is an entry of a directory.
type tiffValue struct {
	kind  int
	count int64
	bytes []byte
}

// checkTIFF reads every reachable directory and decodes every strip and tile of
// every page. Unused bytes must be few and must not be another file.
func checkTIFF(data []byte) error {
	t := &tiffReader{data: data, seen: map[int64]bool{}}
	switch {
	case len(data) < 8:
		return Truncated
	case string(data[:4]) == "II*\x00":
		t.order = binary.LittleEndian
	case string(data[:4]) == "MM\x00*":
		t.order = binary.BigEndian
	default:
		return WrongType
	}
	t.covered = append(t.covered, tiffSpan{0, 8})
	next := int64(t.order.Uint32(data[4:]))
	for next != 0 {
		var err error
		if next, err = t.directory(next, true); err != nil {
			return err
		}
	}
	if t.all.frames == 0 {
		return Malformed
	}
	if err := t.checkGaps(); err != nil {
		return err
	}
	return findForeignInImage(data)
}

// span returns a range of the file and records it as used.
func (t *tiffReader) span(offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > int64(len(t.data)) || size > int64(len(t.data))-offset {
		return nil, Truncated
	}
	t.covered = append(t.covered, tiffSpan{offset, offset + size})
	return t.data[offset : offset+size], nil
}

// directory reads a directory with its subdirectories, and returns the offset of
// the next one. A page is a directory of the chain; it must have an image.
func (t *tiffReader) directory(offset int64, page bool) (next int64, err error) {
	if t.seen[offset] || len(t.seen) >= tiffMaxDirectories {
		return 0, Malformed // a loop, or too many pages
	}
	t.seen[offset] = true
	head, err := t.span(offset, tiffDirectoryHeader)
	if err != nil {
		return 0, err
	}
	count := int64(t.order.Uint16(head))
	if count == 0 || count > tiffMaxEntries {
		return 0, Malformed
	}
	body, err := t.span(offset+tiffDirectoryHeader, count*tiffEntry)
	if err != nil {
		return 0, err
	}
	// Careless writers omit the offset of the next directory in the last one.
	if link, err := t.span(offset+tiffDirectoryHeader+count*tiffEntry, 4); err == nil {
		next = int64(t.order.Uint32(link))
	}
	entries := map[int]tiffValue{}
	for i := range count {
		entry := body[i*tiffEntry : (i+1)*tiffEntry]
		tag := int(t.order.Uint16(entry))
		v, err := t.value(entry)
		if err != nil {
			return 0, err
		}
		if _, twice := entries[tag]; twice {
			return 0, Malformed
		}
		entries[tag] = v
	}
	if err := t.below(entries); err != nil {
		return 0, err
	}
	_, strips := entries[tiffStripOffsets]
	_, tiles := entries[tiffTileOffsets]
	switch {
	case strips || tiles:
		err = t.page(entries, tiles)
	case page:
		err = t.oldJPEG(entries)
	}
	return next, err
}

// value reads an entry, whose value is in it or elsewhere.
func (t *tiffReader) value(entry []byte) (tiffValue, error) {
	v := tiffValue{kind: int(t.order.Uint16(entry[2:])), count: int64(t.order.Uint32(entry[4:]))}
	if v.kind == 0 || v.kind >= len(tiffTypes) {
		return v, Malformed
	}
	size := v.count * tiffTypes[v.kind]
	if size <= 4 {
		v.bytes = entry[8 : 8+size]
		return v, nil
	}
	var err error
	if v.bytes, err = t.span(int64(t.order.Uint32(entry[8:])), size); err != nil {
		return v, err
	}
	switch v.kind {
	case 1, 2, 6, 7: // bytes and texts: titles, profiles, private data of programs
		return v, findForeignInText(v.bytes)
	}
	return v, nil
}

// numbers returns the whole numbers of an entry.
func (t *tiffReader) numbers(v tiffValue) ([]int64, error) {
	if v.count > tiffMaxStrips {
		return nil, TooComplex
	}
	all := make([]int64, 0, v.count)
	for i := range v.count {
		switch v.kind {
		case 1:
			all = append(all, int64(v.bytes[i]))
		case 3:
			all = append(all, int64(t.order.Uint16(v.bytes[2*i:])))
		case 4, 13:
			all = append(all, int64(t.order.Uint32(v.bytes[4*i:])))
		default:
			return nil, Malformed
		}
	}
	return all, nil
}

// number returns the first number of an entry, or a default.
func (t *tiffReader) number(entries map[int]tiffValue, tag int, without int64) (int64, error) {
	v, ok := entries[tag]
	if !ok {
		return without, nil
	}
	all, err := t.numbers(v)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, Malformed
	}
	return all[0], nil
}

// below reads the directories that entries refer to: smaller versions of a page,
// and camera data.
func (t *tiffReader) below(entries map[int]tiffValue) error {
	for _, tag := range []int{tiffSubIFDs, tiffExif, tiffGPS, tiffInterop} {
		v, ok := entries[tag]
		if !ok {
			continue
		}
		offsets, err := t.numbers(v)
		if err != nil {
			return err
		}
		for _, offset := range offsets {
			if _, err := t.directory(offset, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkGaps checks the unused bytes.
func (t *tiffReader) checkGaps() error {
	slices.SortFunc(t.covered, func(a, b tiffSpan) int { return int(a.from - b.from) })
	at := int64(0)
	for _, s := range t.covered {
		if s.from > at {
			if err := findForeignInText(t.data[at:s.from]); err != nil {
				return err
			}
		}
		at = max(at, s.to)
	}
	rest := t.data[at:]
	if len(rest) <= tiffMaxRest && len(bytes.Trim(rest, "\x00")) == 0 {
		return nil
	}
	return checkTrailing(rest)
}

// tiffMaxRest is how many zeros may follow the last used byte: scanners write whole
// blocks.
const tiffMaxRest = 64 << 10
