package guard

import "math/rand/v2"

// table maps integers to a few bits each, by open addressing in one array of words
// per part. A Go map would take three times the memory, and there is one entry for
// each number that an organisation verifies in a day. It is split into parts so
// that no request has to wait while all of it is copied.
type table struct {
	low   uint // how many bits of a word hold the value, below the key
	parts [parts]part
}

const (
	partBits = 6
	parts    = 1 << partBits
)

type part struct {
	words []uint64 // 0 is free; the length is a power of two
	used  int
}

// seed differs in each process, so that nobody can choose numbers that collide.
var seed = rand.Uint64() //nolint:gosec // it must be unpredictable, not secret

func hash(key uint64) uint64 {
	key = (key ^ seed) * 0x9e3779b97f4a7c15
	key ^= key >> 32
	return key * 0xd6e8feb86659fd93
}

// find returns the word of a key, or nil. A key is never 0.
func (t *table) find(key uint64) *uint64 {
	h := hash(key)
	p := &t.parts[h>>(64-partBits)]
	if len(p.words) == 0 {
		return nil
	}
	if w := p.slot(key, h, t.low); *w != 0 {
		return w
	}
	return nil
}

// insert returns the word of a key, which it adds if it is missing, with no bits
// set. The word stays where it is until the next put or sift.
func (t *table) insert(key uint64) (word *uint64, added bool) {
	h := hash(key)
	p := &t.parts[h>>(64-partBits)]
	if len(p.words) == 0 {
		p.rebuild(t.low, 1, func(uint64) bool { return true })
	}
	w := p.slot(key, h, t.low)
	if *w != 0 {
		return w, false
	}
	if (p.used+1)*4 > len(p.words)*3 {
		p.rebuild(t.low, p.used+1, func(uint64) bool { return true })
		w = p.slot(key, h, t.low)
	}
	p.used++
	*w = key << t.low
	return w, true
}

// filter keeps those words of a part for which keep is true.
func (t *table) filter(i int, keep func(word uint64) bool) {
	left := 0
	for _, w := range t.parts[i].words {
		if w != 0 && keep(w) {
			left++
		}
	}
	if left < t.parts[i].used {
		t.parts[i].rebuild(t.low, left, keep)
	}
}

// slot returns the word where a key is, or would be inserted.
func (p *part) slot(key, h uint64, low uint) *uint64 {
	mask := uint64(len(p.words) - 1) //nolint:gosec // there is at least one
	for i := h & mask; ; i = (i + 1) & mask {
		if w := &p.words[i]; *w == 0 || *w>>low == key {
			return w
		}
	}
}

// rebuild moves the words to keep into an array with room for about twice as many
// as it must hold.
func (p *part) rebuild(low uint, hold int, keep func(uint64) bool) {
	old, size := p.words, 16
	if hold == 0 {
		*p = part{}
		return
	}
	for size*3 < hold*5 {
		size *= 2
	}
	*p = part{words: make([]uint64, size)}
	for _, w := range old {
		if w != 0 && keep(w) {
			*p.slot(w>>low, hash(w>>low), low) = w
			p.used++
		}
	}
}
