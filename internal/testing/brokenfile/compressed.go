package brokenfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// packed is the content of the compressed files: long enough that a window has more
// than one line, and with rows that differ.
func packed() string {
	var b strings.Builder
	b.WriteString(snapshotHeader)
	for i := range 500 {
		fmt.Fprintf(&b, "+234803%07d,20%02d-%02d-%02d,,ACTIVE,\n", i*7919%10_000_000, 5+i%20, 1+i%12, 1+i%28)
	}
	return b.String()
}

// damaged is a compressed file that cannot be read to its end.
func damaged(name string, content []byte, rows int) Case {
	c := refused(name, string(content))
	c.WantRows = rows
	return c
}

// patched returns content with other bytes starting at an offset, which counts from
// the end if it is negative.
func patched(content []byte, at int, with ...byte) []byte {
	c := bytes.Clone(content)
	if at < 0 {
		at += len(c)
	}
	copy(c[at:], with)
	return c
}

// gzips are what goes wrong with gzip.
func gzips() []Case {
	whole, end := zip(packed()), len(zip(packed()))
	var kinds []Case
	for _, cut := range []int{2, 3, 9, 10, 11, 20, end / 4, end / 2, end * 3 / 4, end - 9, end - 8, end - 7, end - 4, end - 1} {
		rows := Unknown
		if cut <= 20 {
			rows = 0 // not even the header
		} else if cut >= end-8 {
			rows = 500 // only the checksum is missing
		}
		kinds = append(kinds, damaged(fmt.Sprintf("gzip cut off after %d of %d bytes", cut, end), whole[:cut], rows))
	}
	second := append(zip(snapshotHeader+good1), zip(good2)...)
	return append(kinds,
		damaged("gzip, wrong checksum", patched(whole, -8, whole[end-8]^1), 500),
		damaged("gzip, wrong length", patched(whole, -1, 0xff), 500),
		damaged("gzip, method that does not exist", patched(whole, 2, 7), 0),
		damaged("gzip, block that does not exist", patched(whole, 10, 0xff), 0),
		damaged("gzip, zeros in the first quarter", patched(whole, end/4, 0, 0, 0, 0, 0, 0, 0, 0), Unknown),
		damaged("gzip, zeros in the middle", patched(whole, end/2, 0, 0, 0, 0, 0, 0, 0, 0), Unknown),
		damaged("gzip, zeros in the last quarter", patched(whole, end*3/4, 0, 0, 0, 0, 0, 0, 0, 0), Unknown),
		damaged("gzip, one bit turned", patched(whole, end/2, whole[end/2]^0x10), Unknown),
		damaged("gzip, text behind it", append(bytes.Clone(whole), good1...), 500),
		damaged("gzip, zeros behind it", append(bytes.Clone(whole), make([]byte, 512)...), 500),
		damaged("gzip, zstd behind it", append(bytes.Clone(whole), pack(good1)...), 500),
		damaged("gzip, second member cut off in its head", second[:len(zip(snapshotHeader+good1))+5], 1),
		damaged("gzip, second member cut off in its trailer", second[:len(second)-3], 2),
		damaged("gzip, sent as text with changed line breaks", bytes.ReplaceAll(patched(whole, 20, '\n'), []byte("\n"), []byte("\r\n")), Unknown),
		damaged("gzip, read as Latin-1 and written as UTF-8", []byte("\x1f\xc2\x8b\x08\x00\x00\x00"), 0),
		damaged("gzip of nothing", zip(""), 0),
		damaged("gzip in gzip", zip(string(whole)), 0),
		damaged("gzip in gzip in gzip", zip(string(zip(string(whole)))), 0),
		damaged("zstd in gzip", zip(string(pack(packed()))), 0),
		damaged("ZIP archive in gzip", zip("PK\x03\x04\x14\x00"), 0),
		damaged("tar in gzip", zip("lines.csv"+strings.Repeat("\x00", 248)+"ustar"+strings.Repeat("\x00", 250)), 0),
		damaged("UTF-16 in gzip", zip("\xff\xfe"+wide(snapshotHeader, false)), 0),
		damaged("gzip of a wrong header", zip("msisdn,status\n"+good1), 0),
		row2("gzip of a wrong row", zip(snapshotHeader+good1+"?,2019-03-04,,ACTIVE,\n"+good2)),
		valid("gzip", string(zip(snapshotHeader+good1+good2))),
		valid("gzip in two members", string(second)),
		valid("gzip in two members, one of them empty", string(append(zip(""), zip(snapshotHeader+good1+good2)...))),
		valid("gzip cut into members within a line", string(append(zip(snapshotHeader+good1[:9]), zip(good1[9:]+good2)...))),
		valid("gzip with a name and a comment", string(named(snapshotHeader+good1+good2))),
	)
}

// row2 is a compressed file whose second row is wrong.
func row2(name string, content []byte) Case {
	c := row(name, "", "number", linefile.BadFormat)
	c.Reader = text(string(content))
	return c
}

// zstds are what goes wrong with zstd. It decompresses block by block, so that a
// small file that is cut off has no content at all.
func zstds() []Case {
	whole := pack(packed())
	end := len(whole)
	var kinds []Case
	for _, cut := range []int{4, 5, 6, 8, end / 4, end / 2, end * 3 / 4, end - 5} {
		kinds = append(kinds, damaged(fmt.Sprintf("zstd cut off after %d of %d bytes", cut, end), whole[:cut], 0))
	}
	skip := append([]byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, "abcd"...)
	return append(kinds,
		damaged("zstd cut off in its checksum", whole[:end-2], Unknown),
		damaged("zstd, wrong checksum", patched(whole, -1, whole[end-1]^1), Unknown),
		damaged("zstd, reserved bit", patched(whole, 4, whole[4]|0x08), 0),
		damaged("zstd, zeros in the middle", patched(whole, end/2, 0, 0, 0, 0, 0, 0, 0, 0), Unknown),
		damaged("zstd, one bit turned", patched(whole, end/2, whole[end/2]^0x10), Unknown),
		damaged("zstd, window of 64 MiB", spread(packed(), zstd.WithWindowSize(64<<20)), 0),
		damaged("zstd, window of 2 GiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0, 0}, 0),
		damaged("zstd, dictionary that is not here", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 42, 5, 0x29, 0, 0, 'h', 'e', 'l', 'l', 'o'}, 0),
		damaged("zstd, text behind it", append(bytes.Clone(whole), good1...), 500),
		damaged("zstd, zeros behind it", append(bytes.Clone(whole), make([]byte, 64)...), 500),
		damaged("zstd, gzip behind it", append(bytes.Clone(whole), zip(good1)...), 500),
		damaged("zstd, second frame cut off", append(pack(snapshotHeader+good1), pack(good2)[:12]...), 1),
		damaged("zstd, frame to be skipped cut off", skip[:10], 0),
		damaged("zstd, nothing but a frame to be skipped", skip, 0),
		damaged("zstd of nothing", pack(""), 0),
		damaged("zstd in zstd", pack(string(whole)), 0),
		damaged("gzip in zstd", pack(string(zip(packed()))), 0),
		damaged("JSON in zstd", pack(`{"lines":[]}`), 0),
		damaged("zstd of a wrong header", pack("msisdn,status\n"+good1), 0),
		row2("zstd of a wrong row", pack(snapshotHeader+good1+"?,2019-03-04,,ACTIVE,\n"+good2)),
		valid("zstd", string(pack(snapshotHeader+good1+good2))),
		valid("zstd in two frames", string(append(pack(snapshotHeader+good1), pack(good2)...))),
		valid("zstd behind a frame to be skipped", string(append(bytes.Clone(skip), pack(snapshotHeader+good1+good2)...))),
		valid("zstd, window of 32 MiB", string(spread(snapshotHeader+good1+good2, zstd.WithWindowSize(32<<20)))),
		valid("zstd without a checksum", string(pack(snapshotHeader+good1+good2, zstd.WithEncoderCRC(false)))),
	)
}

// zip compresses with the standard library, which is not the implementation that
// package linefile reads with.
func zip(content string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, content)
	must(err)
	must(z.Close())
	return b.Bytes()
}

// named compresses with every optional field of the gzip header.
func named(content string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name, z.Comment, z.Extra = "lines.csv", "monthly", binary.LittleEndian.AppendUint32(nil, 7)
	_, err := io.WriteString(z, content)
	must(err)
	must(z.Close())
	return b.Bytes()
}

func pack(content string, options ...zstd.EOption) []byte {
	z, err := zstd.NewWriter(nil, options...)
	must(err)
	defer func() { must(z.Close()) }()
	return z.EncodeAll([]byte(content), []byte{})
}

// spread compresses as a stream of unknown length, so that the header has the window
// size.
func spread(content string, options ...zstd.EOption) []byte {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, options...)
	must(err)
	for _, half := range []string{content[:len(content)/2], content[len(content)/2:]} {
		_, err = io.WriteString(z, half)
		must(err)
		must(z.Flush())
	}
	must(z.Close())
	return b.Bytes()
}

// must panics on an error of a function that cannot fail in memory.
func must(err error) {
	if err != nil {
		panic("broken: " + err.Error())
	}
}
