package filerows

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// MaxExamples is how many examples of each kind are stored of an import.
const MaxExamples = 10

// The kinds of what a file can do with a line.
const (
	Added   = "added"
	Changed = "changed"
	Ended   = "ended" // the number is missing from the file
)

// Example is a line as it is stored and as a held file would leave it, in words. Before is
// empty for a number of which nothing is known.
type Example struct {
	Kind, Number, Before, After string
}

// Examples collects examples, the first few of each kind.
type Examples struct {
	zone *time.Location
	of   map[string]int16
	list []Example
}

// NewExamples returns an empty collection. Days are those of the zone.
func NewExamples(zone *time.Location) *Examples { return &Examples{zone: zone, of: map[string]int16{}} }

// Wants reports whether there are too few of a kind so far.
func (x *Examples) Wants(kind string) bool { return x.of[kind] < MaxExamples }

// Add adds an example, if there are too few.
func (x *Examples) Add(kind string, number phone.Number, before, after *line.Row) {
	if x.Wants(kind) {
		x.of[kind]++
		x.list = append(x.list, Example{Kind: kind, Number: number.E164(), Before: x.inWords(before), After: x.inWords(after)})
	}
}

// inWords describes a line: its state, and since when it has its holder and its SIM.
func (x *Examples) inWords(row *line.Row) string {
	if row.State == line.StateNone {
		return ""
	}
	words := []string{row.State.String()}
	add := func(what string, at line.Instant) {
		if at != line.Never {
			words = append(words, what+" "+at.Time().In(x.zone).Format(time.DateOnly))
		}
	}
	if row.State != line.StateActive {
		add("since", row.StateSince)
	}
	add("holder since", row.Tenure)
	add("SIM since", row.SIM)
	add("ends on", row.Until)
	add("barred since", row.BarAt)
	return strings.Join(words, ", ")
}

// Save stores the examples of an import instead of those that it had: a file that is
// checked again after a restart has its examples once.
func (x *Examples) Save(ctx context.Context, to pg.Tx, of int32) error {
	if _, err := to.Exec(ctx, `DELETE FROM supply_example WHERE import = $1`, of); err != nil {
		return fmt.Errorf("filerows: delete examples: %w", err)
	}
	places := map[string]int16{}
	for _, e := range x.list {
		places[e.Kind]++
		_, err := to.Exec(ctx, `INSERT INTO supply_example (import, kind, place, number, before, after) VALUES ($1, $2, $3, $4, $5, $6)`,
			of, e.Kind, places[e.Kind], e.Number, e.Before, e.After)
		if err != nil {
			return fmt.Errorf("filerows: store an example: %w", err)
		}
	}
	return nil
}

// FindExamples returns the examples of an import, by kind.
func FindExamples(ctx context.Context, from pg.DB, of int32) ([]Example, error) {
	list, err := pg.Collect(ctx, from, pgx.RowToStructByPos[Example], `SELECT kind, number, before, after FROM supply_example WHERE import = $1 ORDER BY kind, place`, of)
	if err != nil {
		return nil, fmt.Errorf("filerows: read examples: %w", err)
	}
	return list, nil
}
