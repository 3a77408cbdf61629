package linestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Record is a row with its number.
type Record struct {
	Number phone.Number
	Row    line.Row
}

// EventRow is an event with its number.
type EventRow struct {
	Number phone.Number
	Event  line.Event
}

// copyBuffer builds rows in the binary format of COPY. It is written by hand,
// because a national file passes through here: pgx's general encoding would
// allocate a value for each of two billion fields.
type copyBuffer struct {
	b    []byte
	cols int16
}

const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func newCopyBuffer(cols int16, rows int) *copyBuffer {
	c := &copyBuffer{b: make([]byte, 0, len(copyHeader)+rows*(int(cols)*8+2)+2), cols: cols}
	c.b = append(c.b, copyHeader...)
	return c
}

func (c *copyBuffer) row()         { c.b = binary.BigEndian.AppendUint16(c.b, uint16(c.cols)) } //nolint:gosec // a small count
func (c *copyBuffer) null()        { c.b = append(c.b, 0xff, 0xff, 0xff, 0xff) }
func (c *copyBuffer) int2(v int16) { c.b = append(c.b, 0, 0, 0, 2, byte(v>>8), byte(v)) } //nolint:gosec // two's complement
func (c *copyBuffer) int4(v int32) {
	c.b = append(c.b, 0, 0, 0, 4, byte(v>>24), byte(v>>16), byte(v>>8), byte(v)) //nolint:gosec // two's complement
}

func (c *copyBuffer) int8(v int64) {
	c.b = binary.BigEndian.AppendUint64(append(c.b, 0, 0, 0, 8), uint64(v)) //nolint:gosec // two's complement
}

func (c *copyBuffer) text(s string) {
	if s == "" {
		c.null()
		return
	}
	c.b = append(binary.BigEndian.AppendUint32(c.b, uint32(len(s))), s...) //nolint:gosec // short
}

func (c *copyBuffer) instant(i line.Instant) {
	if i == line.Never {
		c.null()
		return
	}
	c.int4(int32(i))
}

func (c *copyBuffer) code(v int16) {
	if v == 0 {
		c.null()
		return
	}
	c.int2(v)
}

// timestamp writes a timestamptz: microseconds since 2000-01-01.
func (c *copyBuffer) timestamp(t time.Time) { c.int8(t.UnixMicro() - 946684800000000) }

// send writes the trailer and sends the buffer to a COPY statement.
func (c *copyBuffer) send(ctx context.Context, tx pg.Tx, statement string) error {
	c.b = append(c.b, 0xff, 0xff)
	_, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(c.b), statement)
	return err
}

// baselineReader encodes rows in the binary format of COPY while they are sent, so
// that the database works on the first rows while the next are encoded.
type baselineReader struct {
	c       *copyBuffer
	records []Record
	from    int // index of the first byte of c.b that was not read
}

// rowsAhead is how many rows are encoded at a time.
const rowsAhead = 512

// Read implements io.Reader.
func (b *baselineReader) Read(p []byte) (int, error) {
	if b.from == len(b.c.b) {
		if b.records == nil {
			return 0, io.EOF
		}
		b.c.b, b.from = b.c.b[:0], 0
		n := min(rowsAhead, len(b.records))
		for i := range b.records[:n] {
			b.c.baseline(&b.records[i])
		}
		if b.records = b.records[n:]; len(b.records) == 0 {
			b.c.b, b.records = append(b.c.b, 0xff, 0xff), nil
		}
	}
	n := copy(p, b.c.b[b.from:])
	b.from += n
	return n, nil
}

func (c *copyBuffer) baseline(record *Record) {
	r := stored(&record.Row)
	c.row()
	c.int8(record.Number.Int())
	c.int4(r.Version)
	c.int4(r.Baseline)
	c.int2(int16(r.Network))
	c.int2(int16(r.State))
	c.int2(int16(r.Bits))
	c.instant(r.StateSince)
	c.instant(r.Tenure)
	c.instant(r.SIM)
	c.instant(r.Until)
	c.instant(r.BarAt)
	c.code(int16(r.BarReason))
}

// InsertBaselines writes rows for numbers that have none yet. It fails with a
// unique violation if one of them has a row.
func InsertBaselines(ctx context.Context, tx pg.Tx, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	from := &baselineReader{c: newCopyBuffer(12, rowsAhead), records: records}
	_, err := tx.Conn().PgConn().CopyFrom(ctx, from, `COPY line_now (number, version, baseline, network, state, bits, state_since, tenure_start, sim_at,
		until, bar_at, bar_reason) FROM STDIN (FORMAT binary)`)
	if err != nil {
		return fmt.Errorf("linestore: copy rows: %w", err)
	}
	return nil
}

// The bits of an event, as the table stores them.
const (
	eventDay int16 = 1 << iota
	eventNumber
	eventFirst
	eventOutside
	eventCounted
)

func bitsOf(e *line.Event) (b int16) {
	for _, f := range []struct {
		is  bool
		bit int16
	}{{e.Day, eventDay}, {e.Number, eventNumber}, {e.First, eventFirst}, {e.Outside, eventOutside}, {e.Counted, eventCounted}} {
		if f.is {
			b |= f.bit
		}
	}
	return b
}

// AppendEvents writes new events. Their seqs come from [ReserveSeqs].
func AppendEvents(ctx context.Context, tx pg.Tx, events []EventRow) error {
	if len(events) == 0 {
		return nil
	}
	c := newCopyBuffer(27, len(events))
	for i := range events {
		e := &events[i].Event
		c.row()
		c.int8(events[i].Number.Int())
		c.int8(e.Seq)
		c.timestamp(e.ReportedAt)
		c.int4(int32(e.Effective))
		c.int4(e.Supplier)
		c.int4(e.Import)
		c.int2(int16(e.Kind))
		c.int2(int16(e.Authority))
		c.int2(int16(e.Network))
		c.int2(int16(e.Peer))
		c.int2(int16(e.Code))
		c.int2(bitsOf(e))
		c.code(int16(e.Hold))
		c.instant(e.Until)
		c.instant(e.EndedAfter)
		c.base(e.Base)
		if e.Target == 0 {
			c.null()
		} else {
			c.int8(e.Target)
		}
		c.text(e.ID)
		c.text(e.Note)
	}
	err := c.send(ctx, tx, `COPY line_event (number, seq, reported_at, effective, supplier, import, kind, authority, network, peer, code, bits, hold,
		until, ended_after, base_import, base_as_of, base_network, base_state, base_bits, base_since, base_tenure, base_sim, base_until, target, event_id, note)
		FROM STDIN (FORMAT binary)`)
	if err != nil {
		return fmt.Errorf("linestore: copy events: %w", err)
	}
	return nil
}

func (c *copyBuffer) base(b *line.Baseline) {
	if b == nil {
		for range 9 {
			c.null()
		}
		return
	}
	c.int4(b.Import)
	c.instant(b.AsOf)
	c.int2(int16(b.Network))
	c.int2(int16(b.State))
	c.int2(int16(b.Bits))
	c.instant(b.StateSince)
	c.instant(b.Tenure)
	c.instant(b.SIM)
	c.instant(b.Until)
}
