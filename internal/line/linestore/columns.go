package linestore

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// rowNames are the columns of line_now: the fixed part, then the times in the order
// of Row.Times.
var (
	fixedNames   = []string{"number", "version", "baseline", "network", "state", "bits", "bar_reason", "holder_bar_reason", "number_bar_reason"}
	instantNames = []string{
		"state_since", "tenure_start", "sim_at", "newest", "until", "ended_after", "port_at", "bar_at",
		"holder_bar_at", "holder_bar_until", "number_bar_at", "number_bar_until", "flag_medium_at", "flag_high_at", "flag_very_high_at", "black_at",
		"contested_tenure", "contested_sim", "contested_port", "doubt_at",
	}
	columns = strings.Join(append(append([]string{}, fixedNames...), instantNames...), ", ")
)

// stored returns the times of the row as the table stores them. What follows from
// another column is null, which keeps rows short.
func stored(r *line.Row) line.Row {
	s := *r
	for _, pair := range implied(&s) {
		if *pair.column == pair.follows {
			*pair.column = line.Never
		}
	}
	return s
}

// restore is the reverse of stored.
func restore(r *line.Row) {
	for _, pair := range implied(r) {
		if *pair.column == line.Never {
			*pair.column = pair.follows
		}
	}
}

// impliedTime is a column that is null when it equals what follows from others.
type impliedTime struct {
	column  *line.Instant
	follows line.Instant
}

func implied(r *line.Row) [2]impliedTime {
	since := r.StateSince
	if since == line.Never {
		since = r.Tenure
	}
	newest := max(since, r.Tenure, r.SIM, r.PortAt, r.BarAt, r.HolderBarAt, r.NumberBarAt, r.MediumAt, r.HighAt, r.VeryHighAt, r.BlackAt)
	return [...]impliedTime{
		{&r.StateSince, r.Tenure},
		{&r.Newest, newest},
	}
}

var errMalformedRow = errors.New("the row does not have the expected columns")

// readRow decodes columns in PostgreSQL's binary format: integers of two, four or
// eight bytes, and no bytes for null. Scanning so many columns by their types would
// cost more than the rest of a look-up.
func readRow(raw [][]byte) (phone.Number, line.Row, error) {
	if len(raw) != len(fixedNames)+len(instantNames) || len(raw[0]) != 8 {
		return phone.Number{}, line.Row{}, errMalformedRow
	}
	malformed := false
	small := func(i int) int16 {
		if len(raw[i]) == 2 {
			return int16(binary.BigEndian.Uint16(raw[i])) //nolint:gosec // two's complement
		}
		malformed = malformed || raw[i] != nil
		return 0
	}
	integer := func(i int, null int32) int32 {
		if len(raw[i]) == 4 {
			return int32(binary.BigEndian.Uint32(raw[i])) //nolint:gosec // two's complement
		}
		malformed = malformed || raw[i] != nil
		return null
	}
	n, ok := phone.FromInt(int64(binary.BigEndian.Uint64(raw[0]))) //nolint:gosec // two's complement
	r := line.Row{
		Version: integer(1, 0), Baseline: integer(2, 0), Network: numbering.Network(small(3)), State: line.State(small(4)), Bits: line.Bits(small(5)),
		BarReason: line.Code(small(6)), HolderBarReason: line.Code(small(7)), NumberBarReason: line.Code(small(8)),
	}
	for i, at := range r.Times() {
		*at = line.Instant(integer(len(fixedNames)+i, int32(line.Never)))
	}
	restore(&r)
	if malformed || !ok {
		return phone.Number{}, line.Row{}, errMalformedRow
	}
	return n, r, nil
}
