package archivefile

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Memory has the records of a slice. It is used again for the next
// one, and has no allocation of its own for a record: reading a record takes less time
// than collecting its garbage would.
type Memory struct {
	rows    []byte   // the columns of all records as PostgreSQL sent them, each after its length
	keys    []rowKey // where each record begins in rows
	ids     []uint64
	entries []Entry
	hashes  []byte
}

// rowKey is the place of a record in its batch, and in the rows.
type rowKey struct {
	BatchKey

	idx   int32
	begin int
}

// memories has memory that is not in use.
var memories = sync.Pool{New: func() any { return new(Memory) }}

// WithMemory runs a function with memory for slices.
func WithMemory(fn func(*Memory) error) error {
	memory := memories.Get().(*Memory) //nolint:forcetypeassert // nothing else is put into it
	defer memories.Put(memory)
	return fn(memory)
}

// binaryResults asks for all columns in PostgreSQL's binary format.
var binaryResults = []int16{1}

var errColumns = errors.New("archivefile: PostgreSQL sent other columns than expected")

// entryColumns is how many columns a record has.
const entryColumns = 28

// ReadEntries reads the records that a query selects, and returns how many there are. The
// columns are those of the batch (epoch, n, idx) and then those of [Memory.decode].
func (m *Memory) ReadEntries(ctx context.Context, conn *pgconn.PgConn, sql string) (int, error) {
	m.rows, m.keys, m.ids = m.rows[:0], m.keys[:0], m.ids[:0]
	err := eachRow(ctx, conn, sql, func(columns [][]byte) error {
		if len(columns) != entryColumns || len(columns[0]) != 8 || len(columns[1]) != 8 || len(columns[2]) != 4 || len(columns[3]) != 16 {
			return errColumns
		}
		m.keys = append(m.keys, rowKey{
			BatchKey: BatchKey{Epoch: bigEndian(columns[0]), N: bigEndian(columns[1])}, idx: int32(bigEndian(columns[2])), begin: len(m.rows), //nolint:gosec // four bytes
		})
		const odd = 0x9e3779b97f4a7c15 // spreads the first half, most of which is the time, over all bits
		m.ids = append(m.ids, binary.BigEndian.Uint64(columns[3])*odd^binary.BigEndian.Uint64(columns[3][8:]))
		for _, column := range columns[3:] {
			m.rows = append(binary.BigEndian.AppendUint32(m.rows, uint32(len(column))), column...) //nolint:gosec // at most a gigabyte
		}
		return nil
	})
	return len(m.keys), err
}

// eachRow calls a function with the columns of each row, which are valid until it returns.
func eachRow(ctx context.Context, conn *pgconn.PgConn, sql string, each func(columns [][]byte) error) error {
	result := conn.ExecParams(ctx, sql, nil, nil, nil, binaryResults)
	var failed error
	for failed == nil && result.NextRow() {
		failed = each(result.Values())
	}
	_, err := result.Close()
	return fault.Wrap(cmp.Or(failed, err), "archivefile: read")
}

// MayHaveDuplicates reports whether two records may have the same request id. It compares
// 64 bits of each id, so that it says so of different ids about once in 10 million slices.
func (m *Memory) MayHaveDuplicates() bool {
	slices.Sort(m.ids)
	for i := 1; i < len(m.ids); i++ {
		if m.ids[i] == m.ids[i-1] {
			return true
		}
	}
	return false
}

// ReadBatches reads the batches that a query selects, with the columns epoch, n, node, at,
// count, root and xact. It returns them in the order of an archive: by time, epoch, number
// and node.
func ReadBatches(ctx context.Context, conn *pgconn.PgConn, sql string) (batches []Batch, err error) {
	err = eachRow(ctx, conn, sql, func(columns [][]byte) error {
		if len(columns) != 7 {
			return errColumns
		}
		batches = append(batches, Batch{
			BatchKey: BatchKey{Epoch: bigEndian(columns[0]), N: bigEndian(columns[1])}, Found: true, Node: string(columns[2]),
			At: timeOf(bigEndian(columns[3])), Count: int(bigEndian(columns[4])), Root: slices.Clone(columns[5]),
			Xact: strconv.FormatUint(uint64(bigEndian(columns[6])), 10), //nolint:gosec // xid8 has no sign
			Log:  NotLogged,
		})
		return nil
	})
	if byOrder := func(a, b Batch) int {
		return cmp.Or(a.At.Compare(b.At), a.Compare(b.BatchKey), cmp.Compare(a.Node, b.Node))
	}; !slices.IsSortedFunc(batches, byOrder) {
		slices.SortFunc(batches, byOrder)
	}
	return batches, err
}

// Join gives each batch its records, in their order. Records whose batch does not exist
// follow in batches that were not found.
func (m *Memory) Join(batches []Batch) ([]Batch, error) {
	slices.SortFunc(m.keys, func(a, b rowKey) int {
		return cmp.Or(a.Compare(b.BatchKey), cmp.Compare(a.idx, b.idx), cmp.Compare(a.begin, b.begin))
	})
	m.entries = slices.Grow(m.entries[:0], len(m.keys))[:len(m.keys)]
	m.hashes = slices.Grow(m.hashes[:0], len(m.keys)*HashBytes)[:0]
	rows := string(m.rows)
	for i := range m.keys {
		if err := m.decode(rows[m.keys[i].begin:], int(m.keys[i].idx), &m.entries[i]); err != nil {
			return nil, err
		}
	}
	places := make(map[BatchKey]int, len(batches)) // of the first row with that key
	for i := range slices.Backward(batches) {
		places[batches[i].BatchKey] = i
	}
	for begin := 0; begin < len(m.keys); {
		key, end := m.keys[begin].BatchKey, begin+1
		for end < len(m.keys) && m.keys[end].BatchKey == key {
			end++
		}
		if place, found := places[key]; found {
			batches[place].Entries = m.entries[begin:end]
		} else {
			batches = append(batches, Batch{BatchKey: key, Entries: m.entries[begin:end]})
		}
		begin = end
	}
	return batches, nil
}

// decode reads a record from its columns after the first three.
func (m *Memory) decode(row string, idx int, e *Entry) error {
	*e = Entry{Idx: idx}
	r := rowReader{rest: row}
	r.copyTo(e.RequestID[:])
	e.At = timeOf(r.number(8))
	e.Type = r.text()
	r.copyTo(e.Entity[:])
	r.copyTo(e.Key[:])
	for _, text := range [...]*string{&e.Mode, &e.Purpose, &e.PurposeText, &e.Status, &e.Reason, &e.MobileNetwork} {
		*text = r.text()
	}
	e.LineVersion = r.number(8)
	e.PolicyVersion, e.PlanVersion, e.Rules = int32(r.number(4)), int32(r.number(4)), int32(r.number(4)) //nolint:gosec // four bytes
	r.copyTo(e.Coverage[:])
	e.Number = r.number(8)
	for _, text := range [...]*string{&e.PhoneNumber, &e.Correlator, &e.ExternalID, &e.OnBehalfOf, &e.Options, &e.Extra} {
		*text = r.text()
	}
	if nonce := r.text(); len(nonce) == len(e.Inner) {
		copy(e.Inner[:], nonce)
	} else if copy(e.Nonce[:], nonce) != len(e.Nonce) || len(nonce) != len(e.Nonce) {
		return errColumns
	}
	begin := len(m.hashes)
	m.hashes = append(m.hashes, r.text()...)
	e.StoredHash = m.hashes[begin:len(m.hashes):len(m.hashes)]
	if r.wrong {
		return errColumns
	}
	return nil
}

// rowReader reads the columns of a row one by one.
type rowReader struct {
	rest  string
	wrong bool // a column does not have the expected length
}

func (r *rowReader) text() string {
	if len(r.rest) < 4 {
		r.wrong = true
		return ""
	}
	n := int(r.rest[0])<<24 | int(r.rest[1])<<16 | int(r.rest[2])<<8 | int(r.rest[3])
	if len(r.rest)-4 < n {
		r.wrong = true
		return ""
	}
	text := r.rest[4 : 4+n]
	r.rest = r.rest[4+n:]
	return text
}

func (r *rowReader) copyTo(to []byte) {
	text := r.text()
	r.wrong = r.wrong || len(text) != len(to)
	copy(to, text)
}

func (r *rowReader) number(bytes int) (n int64) {
	text := r.text()
	r.wrong = r.wrong || len(text) != bytes
	return bigEndian(text)
}

// bigEndian reads a number of four or eight bytes.
func bigEndian[T string | []byte](bytes T) (n int64) {
	if len(bytes) == 4 {
		return int64(int32(uint32(bytes[0])<<24 | uint32(bytes[1])<<16 | uint32(bytes[2])<<8 | uint32(bytes[3]))) //nolint:gosec // two's complement
	}
	for i := range len(bytes) {
		n = n<<8 | int64(bytes[i])
	}
	return n
}

// epoch2000 is the zero of PostgreSQL's binary times.
var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timeOf returns the time that PostgreSQL sends as microseconds since 2000.
func timeOf(microseconds int64) time.Time {
	return time.UnixMicro(epoch2000.UnixMicro() + microseconds).UTC()
}
