// Package line knows in which state each number's line is.
//
// A line that nobody has supplied is UNKNOWN and is never shown as NORMAL. For
// now a row holds the status itself; its whole life (tenures, events, windows
// that end by the clock) comes with the supply of lines.
package line

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Status is the one word that says how a line stands.
type Status string

// The statuses, in the order of precedence.
const (
	Blacklisted  Status = "BLACKLISTED"
	Barred       Status = "BARRED"
	Flagged      Status = "FLAGGED"
	Quarantined  Status = "QUARANTINED"
	Recycled     Status = "RECYCLED"
	Swapped      Status = "SWAPPED"
	Ported       Status = "PORTED"
	PendingChurn Status = "PENDING_CHURN"
	Parked       Status = "PARKED"
	Inactive     Status = "INACTIVE"
	Normal       Status = "NORMAL"
	Unallocated  Status = "UNALLOCATED"
	Unknown      Status = "UNKNOWN"
)

// codes are what the table stores. They are never reused.
var codes = map[Status]int16{
	Blacklisted: 1, Barred: 2, Flagged: 3, Quarantined: 4, Recycled: 5, Swapped: 6, Ported: 7,
	PendingChurn: 8, Parked: 9, Inactive: 10, Normal: 11, Unallocated: 12, Unknown: 13,
}

var statuses = func() map[int16]Status {
	m := make(map[int16]Status, len(codes))
	for s, c := range codes {
		m[c] = s
	}
	return m
}()

// UnknownNetwork is the name of the network when nothing is known.
const UnknownNetwork = "UNKNOWN"

// Line is what is known of one number.
type Line struct {
	Status  Status
	Network string
	Version int64 // of the row; 0 when there is none
}

// Lookup returns what is known of n. A number that nobody supplied is not an
// error: it is UNKNOWN. There is no cache between it and the table: a SIM swap
// that was reported a second ago must show.
func Lookup(ctx context.Context, from pg.DB, n phone.Number) (Line, error) {
	row, err := db.New(from).Lookup(ctx, n.Int())
	if errors.Is(err, pgx.ErrNoRows) {
		return Line{Status: Unknown, Network: UnknownNetwork}, nil
	}
	if err != nil {
		return Line{}, fmt.Errorf("line: look up: %w", err)
	}
	status, ok := statuses[row.Status]
	if !ok {
		return Line{}, fmt.Errorf("line: the table holds the status code %d, which this program does not know", row.Status)
	}
	return Line{Status: status, Network: row.Network, Version: row.Version}, nil
}

// Directory takes lines in.
type Directory struct {
	Pool *pgxpool.Pool
}

// Empty reports whether no line was ever supplied.
func (d *Directory) Empty(ctx context.Context) (bool, error) {
	found, err := db.New(d.Pool).AnyLine(ctx)
	if err != nil {
		return false, fmt.Errorf("line: look for any: %w", err)
	}
	return !found, nil
}
