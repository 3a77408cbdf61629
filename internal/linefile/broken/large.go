package broken

import (
	"bytes"
	"io"
	"strings"

	"github.com/lineproof/lineproof/internal/linefile"
)

// How long endless lines are.
const (
	gigabyte = 1 << 30
	megabyte = 1 << 20
)

// large are files that do not fit into memory. They are made while they are read.
func large() []Kind {
	of := func(name string, file bool, parts ...func() io.Reader) Kind {
		k := row("endless: "+name, "", "", linefile.TooLong)
		if k.WantFile = file; file {
			k.WantRefusals, k.WantRows = nil, 0
		}
		k.Large, k.Reader = true, func() io.Reader {
			var all []io.Reader
			for _, part := range parts {
				all = append(all, part())
			}
			return io.MultiReader(all...)
		}
		return k
	}
	line := func(b byte, length int64) func() io.Reader {
		return func() io.Reader { return &repeated{what: bytes.Repeat([]byte{b}, 256<<10), left: length} }
	}
	begin, rest := text(snapshotHeader+good1), text("\n"+good2)
	end := of("last line of 1 GB", false, begin, line('x', gigabyte))
	end.WantRows = 1
	return []Kind{
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

// bomb is a small file that becomes a terabyte.
func bomb(name string, first []byte, then func() []byte) Kind {
	k := refused(name, "")
	k.WantRows, k.Large = 1, true
	k.Reader = func() io.Reader {
		again := then()
		return io.MultiReader(bytes.NewReader(first), &repeated{what: again, left: 100_000 * int64(len(again))})
	}
	return k
}

// repeated gives the same bytes again and again.
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
