package corpus

import (
	"encoding/binary"
	"maps"
	"slices"
)

// tiffOrder is a byte order that can also append.
type tiffOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// tiffPage is a page of a TIFF.
type tiffPage struct {
	width, height int
	tags          map[uint16][]uint32 // further entries of numbers, or other values of the usual ones
	words         map[uint16][]byte   // entries of words
	strips        [][]byte
	tiled         bool
}

// aTIFF writes the pages, each with its strips before its directory, and each
// behind the other.
func aTIFF(order tiffOrder, pages ...tiffPage) []byte {
	file := []byte("II*\x00")
	if order.String() == "BigEndian" {
		file = []byte("MM\x00*")
	}
	link := len(file) // where to write where the next directory stands
	file = order.AppendUint32(file, 0)
	for _, p := range pages {
		file, link = p.append(file, link, order)
	}
	return file
}

func (p tiffPage) append(file []byte, link int, order tiffOrder) (whole []byte, nextLink int) {
	var offsets, counts []uint32
	for _, s := range p.strips {
		offsets, counts = append(offsets, uint32(len(file))), append(counts, uint32(len(s)))
		file = append(file, s...)
		if len(file)%2 == 1 {
			file = append(file, 0)
		}
	}
	tags := map[uint16][]uint32{
		256: {uint32(p.width)}, 257: {uint32(p.height)}, 258: {8}, 259: {1}, 262: {1}, 277: {1}, 278: {uint32(p.height)},
		273: offsets, 279: counts,
	}
	if p.tiled {
		delete(tags, 273)
		delete(tags, 279)
		delete(tags, 278)
		tags[324], tags[325] = offsets, counts
	}
	maps.Copy(tags, p.tags)
	var all []uint16
	for tag := range tags {
		all = append(all, tag)
	}
	for tag := range p.words {
		all = append(all, tag)
	}
	slices.Sort(all)
	entries := order.AppendUint16(nil, uint16(len(all)))
	for _, tag := range all {
		var value []byte
		kind, count := uint16(4), len(tags[tag])
		for _, n := range tags[tag] {
			value = order.AppendUint32(value, n)
		}
		if words, ok := p.words[tag]; ok {
			kind, count, value = 2, len(words), words
		}
		entries = order.AppendUint16(entries, tag)
		entries = order.AppendUint16(entries, kind)
		entries = order.AppendUint32(entries, uint32(count))
		if len(value) > 4 {
			entries = order.AppendUint32(entries, uint32(len(file)))
			file = append(file, value...)
			if len(file)%2 == 1 {
				file = append(file, 0)
			}
			continue
		}
		entries = append(entries, append(value, make([]byte, 4-len(value))...)...)
	}
	order.PutUint32(file[link:], uint32(len(file)))
	file = append(file, entries...)
	link = len(file)
	return order.AppendUint32(file, 0), link
}

// grey is a page of 8 bits to the dot.
func grey(width, height int) tiffPage {
	pixels := make([]byte, width*height)
	for i := range pixels {
		pixels[i] = byte(i * 3)
	}
	return tiffPage{width: width, height: height, strips: [][]byte{pixels}}
}

// pack packs the strips of a page.
func (p tiffPage) pack(compression uint32, pack func([]byte) []byte) tiffPage {
	tags := map[uint16][]uint32{259: {compression}}
	maps.Copy(tags, p.tags)
	strips := make([][]byte, len(p.strips))
	for i, s := range p.strips {
		strips[i] = pack(s)
	}
	p.tags, p.strips = tags, strips
	return p
}
