package broken

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/linefile"
)

// packed is the snapshot that the compressed kinds hold: long enough to be more
// than one line in a window, and with rows that differ.
func packed() string {
	var b strings.Builder
	b.WriteString(snapshotHeader)
	for i := range 500 {
		fmt.Fprintf(&b, "+234803%07d,20%02d-%02d-%02d,,ACTIVE,\n", i*7919%10_000_000, 5+i%20, 1+i%12, 1+i%28)
	}
	return b.String()
}

// damaged is a compressed kind that cannot be read to its end.
func damaged(name string, content []byte, rows int) Kind {
	k := refused(name, string(content))
	k.WantRows = rows
	return k
}

// patched returns content with other bytes from at on; at counts from the end when
// it is negative.
func patched(content []byte, at int, with ...byte) []byte {
	c := bytes.Clone(content)
	if at < 0 {
		at += len(c)
	}
	copy(c[at:], with)
	return c
}

// gzips are what goes wrong with gzip.
func gzips() []Kind {
	whole, end := zip(packed()), len(zip(packed()))
	var kinds []Kind
	for _, cut := range []int{2, 3, 9, 10, 11, 20, end / 4, end / 2, end * 3 / 4, end - 9, end - 8, end - 7, end - 4, end - 1} {
		rows := Any
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
		damaged("gzip, zeros in the first quarter", patched(whole, end/4, 0, 0, 0, 0, 0, 0, 0, 0), Any),
		damaged("gzip, zeros in the middle", patched(whole, end/2, 0, 0, 0, 0, 0, 0, 0, 0), Any),
		damaged("gzip, zeros in the last quarter", patched(whole, end*3/4, 0, 0, 0, 0, 0, 0, 0, 0), Any),
		damaged("gzip, one bit turned", patched(whole, end/2, whole[end/2]^0x10), Any),
		damaged("gzip, text behind it", append(bytes.Clone(whole), good1...), 500),
		damaged("gzip, zeros behind it", append(bytes.Clone(whole), make([]byte, 512)...), 500),
		damaged("gzip, zstd behind it", append(bytes.Clone(whole), pack(good1)...), 500),
		damaged("gzip, second member cut off in its head", second[:len(zip(snapshotHeader+good1))+5], 1),
		damaged("gzip, second member cut off in its trailer", second[:len(second)-3], 2),
		damaged("gzip, sent as text with changed line breaks", bytes.ReplaceAll(patched(whole, 20, '\n'), []byte("\n"), []byte("\r\n")), Any),
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
		sound("gzip", string(zip(snapshotHeader+good1+good2))),
		sound("gzip in two members", string(second)),
		sound("gzip in two members, one of them empty", string(append(zip(""), zip(snapshotHeader+good1+good2)...))),
		sound("gzip cut into members within a line", string(append(zip(snapshotHeader+good1[:9]), zip(good1[9:]+good2)...))),
		sound("gzip with a name and a comment", string(named(snapshotHeader+good1+good2))),
	)
}

// row2 is a compressed file whose second row is wrong.
func row2(name string, content []byte) Kind {
	k := row(name, "", "number", linefile.BadFormat)
	k.Reader = text(string(content))
	return k
}

// zstds are what goes wrong with zstd. Its content comes out by the block, so that
// a small file that is cut off gives nothing.
func zstds() []Kind {
	whole := pack(packed())
	end := len(whole)
	var kinds []Kind
	for _, cut := range []int{4, 5, 6, 8, end / 4, end / 2, end * 3 / 4, end - 5} {
		kinds = append(kinds, damaged(fmt.Sprintf("zstd cut off after %d of %d bytes", cut, end), whole[:cut], 0))
	}
	skip := append([]byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, "abcd"...)
	return append(kinds,
		damaged("zstd cut off in its checksum", whole[:end-2], Any),
		damaged("zstd, wrong checksum", patched(whole, -1, whole[end-1]^1), Any),
		damaged("zstd, reserved bit", patched(whole, 4, whole[4]|0x08), 0),
		damaged("zstd, zeros in the middle", patched(whole, end/2, 0, 0, 0, 0, 0, 0, 0, 0), Any),
		damaged("zstd, one bit turned", patched(whole, end/2, whole[end/2]^0x10), Any),
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
		sound("zstd", string(pack(snapshotHeader+good1+good2))),
		sound("zstd in two frames", string(append(pack(snapshotHeader+good1), pack(good2)...))),
		sound("zstd behind a frame to be skipped", string(append(bytes.Clone(skip), pack(snapshotHeader+good1+good2)...))),
		sound("zstd, window of 32 MiB", string(spread(snapshotHeader+good1+good2, zstd.WithWindowSize(32<<20)))),
		sound("zstd without a checksum", string(pack(snapshotHeader+good1+good2, zstd.WithEncoderCRC(false)))),
	)
}

// zip compresses with the standard library, which is another implementation than
// the one that reads.
func zip(content string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, content)
	must(err)
	must(z.Close())
	return b.Bytes()
}

// named compresses with everything in the head that gzip allows.
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

// spread compresses as a stream whose length is not known beforehand, so that the
// head names the window.
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

// must is for what cannot fail in memory.
func must(err error) {
	if err != nil {
		panic("broken: " + err.Error())
	}
}
