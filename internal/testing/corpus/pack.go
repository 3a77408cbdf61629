package corpus

import (
	"bytes"
	"encoding/ascii85"
	mathbits "math/bits"
)

// ascii packs into five letters for four bytes.
func ascii(data []byte) []byte {
	var b bytes.Buffer
	w := ascii85.NewEncoder(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return append(b.Bytes(), "~>"...)
}

// packBits packs runs of bytes.
func packBits(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		run := 1
		for run < len(data) && run < 128 && data[run] == data[0] {
			run++
		}
		if run > 1 {
			out = append(out, byte((257-run)&0xff), data[0])
			data = data[run:]
			continue
		}
		n := min(len(data), 128)
		out = append(append(out, byte((n-1)&0xff)), data[:n]...)
		data = data[n:]
	}
	return out
}

// bits writes codes of any length, the highest bit first.
type bits struct {
	out  []byte
	acc  uint32
	used int
}

func (b *bits) put(code uint32, length int) {
	b.acc = b.acc<<length | code
	for b.used += length; b.used >= 8; {
		b.used -= 8
		b.out = append(b.out, byte(b.acc>>b.used&0xff))
	}
	b.acc &= 1<<b.used - 1
}

// bytes fills the last byte up.
func (b *bits) bytes() []byte {
	if b.used > 0 {
		b.put(0, 8-b.used)
	}
	return b.out
}

// lzwPack packs by LZW without finding anything twice: the table is cleared
// before the codes grow.
func lzwPack(data []byte) []byte {
	const clearCode, endCode, width, fresh = 256, 257, 9, 250
	var b bits
	b.put(clearCode, width)
	for i, c := range data {
		if i > 0 && i%fresh == 0 {
			b.put(clearCode, width)
		}
		b.put(uint32(c), width)
	}
	b.put(endCode, width)
	return b.bytes()
}

// reverse turns the bits of each byte around.
func reverse(data []byte) []byte {
	for i, c := range data {
		data[i] = mathbits.Reverse8(c)
	}
	return data
}

// fax4 packs an empty page as a fax machine of group 4 does.
func fax4(rows int) []byte {
	var b bits
	for range rows {
		b.put(1, 1) // the same as the row above
	}
	b.put(1, 12)
	b.put(1, 12)
	return b.bytes()
}

// fax3 packs an empty page of 1728 dots a row, as group 3 does. The ends of
// lines may be filled up to a byte, as most machines do.
func fax3(rows int, filled bool) []byte {
	var b bits
	for range rows {
		for filled && (b.used+12)%8 != 0 {
			b.put(0, 1)
		}
		b.put(1, 12)          // the end of a line
		b.put(0b010011011, 9) // 1728 white
		b.put(0b00110101, 8)  // and none
	}
	for range 6 {
		b.put(1, 12)
	}
	return b.bytes()
}
