package brokenfile

import (
	"bytes"
	"io"
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// The lengths of endless lines.
const (
	gigabyte = 1 << 30
	megabyte = 1 << 20
)

// large are files that do not fit into memory. They are generated while they are
// read.
func large() []Case {
	of := func(name string, file bool, parts ...func() io.Reader) Case {
		c := row("endless: "+name, "", "", linefile.TooLong)
		if c.WantFileRefused = file; file {
			c.WantRefusals, c.WantRows = nil, 0
		}
		c.Large, c.Reader = true, func() io.Reader {
			var all []io.Reader
			for _, part := range parts {
				all = append(all, part())
			}
			return io.MultiReader(all...)
		}
		return c
	}
	line := func(b byte, length int64) func() io.Reader {
		return func() io.Reader { return &repeated{what: bytes.Repeat([]byte{b}, 256<<10), left: length} }
	}
	begin, rest := text(snapshotHeader+good1), text("\n"+good2)
	end := of("last line of 1 GB", false, begin, line('x', gigabyte))
	end.WantRows = 1
	return []Case{
		of("line of 1 GB", false, begin, line('x', gigabyte), rest),
		of("line of 100 MB of quotes", false, begin, line('"', 100*megabyte), rest),
		of("line of 100 MB of NULs", false, begin, line(0, 100*megabyte), rest),
		end,
		of("header of 1 GB", true, line('x', gigabyte)),
		of("header of 1 GB of NULs", true, line(0, gigabyte)),
		bomb("gzip that becomes an endless line", zip(snapshotHeader+good1), func() []byte { return zip(strings.Repeat("x", 10<<20)) }),
		bomb("gzip that becomes empty lines", zip(snapshotHeader+good1), func() []byte { return zip(strings.Repeat("\r\n", 5<<20)) }),
		bomb("zstd that becomes an endless line", pack(snapshotHeader+good1), func() []byte { return pack(strings.Repeat("x", 10<<20)) }),
	}
}

// bomb is a small file that decompresses to a terabyte.
func bomb(name string, first []byte, then func() []byte) Case {
	c := refused(name, "")
	c.WantRows, c.Large = 1, true
	c.Reader = func() io.Reader {
		again := then()
		return io.MultiReader(bytes.NewReader(first), &repeated{what: again, left: 100_000 * int64(len(again))})
	}
	return c
}

// repeated reads the same bytes again and again, left bytes in all.
type repeated struct {
	what []byte
	at   int
	left int64
}

// Read implements [io.Reader].
func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.what[r.at:])
	n = int(min(int64(n), r.left))
	r.at = (r.at + n) % len(r.what)
	r.left -= int64(n)
	return n, nil
}
