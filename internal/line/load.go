package line

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/line/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Record is one line as a file gives it.
type Record struct {
	Number  phone.Number
	Network string
	Status  Status
}

// chunk is how many rows one transaction writes: large enough to be quick,
// small enough to show progress.
const chunk = 5000

// header is what the first row of a file must say.
var header = []string{"number", "network", "status"}

// ReadCSV reads a file of lines and calls yield with one chunk at a time. A row
// that is wrong ends it with an error that names the row, not what it says.
func ReadCSV(r io.Reader, region *phone.Region, yield func([]Record) error) error {
	br := bufio.NewReader(r)
	if mark, err := br.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = br.Discard(3) // what spreadsheets put in front of UTF-8
	}
	in := csv.NewReader(br)
	in.FieldsPerRecord, in.ReuseRecord = len(header), true
	first, err := in.Read()
	if err != nil || !slices.Equal(first, header) {
		return errors.New("line: the first row must be: " + strings.Join(header, ",") + " (in lower case, with commas between the columns)")
	}
	var records []Record
	for row := 2; ; row++ {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("line: row %d is not a row of %d columns", row, len(header))
		}
		record, err := parse(fields, region)
		if err != nil {
			return fmt.Errorf("line: row %d: %w", row, err)
		}
		if records = append(records, record); len(records) == chunk {
			if err := yield(records); err != nil {
				return err
			}
			records = records[:0]
		}
	}
	if len(records) == 0 {
		return nil
	}
	return yield(records)
}

func parse(fields []string, region *phone.Region) (Record, error) {
	n, err := region.ParseMobile(fields[0])
	if err != nil {
		return Record{}, errors.New("column number is not a mobile number of the region")
	}
	network, status := strings.TrimSpace(fields[1]), Status(fields[2])
	if network == "" || len(network) > 64 {
		return Record{}, errors.New("column network must have 1 to 64 characters")
	}
	if _, ok := codes[status]; !ok {
		return Record{}, errors.New("column status is none of the known words")
	}
	return Record{Number: n, Network: network, Status: status}, nil
}

// Store writes records in one transaction and returns how many rows changed. A
// number that stands twice counts with its last row.
func (d *Directory) Store(ctx context.Context, records []Record) (changed int64, err error) {
	err = pg.InTx(ctx, d.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		networks, err := networkIDs(ctx, q, tx, records)
		if err != nil {
			return err
		}
		last := make(map[phone.Number]int, len(records))
		for i, r := range records {
			last[r.Number] = i
		}
		var p db.StoreParams
		for i, r := range records {
			if last[r.Number] != i {
				continue
			}
			p.Numbers = append(p.Numbers, r.Number.Int())
			p.Networks = append(p.Networks, networks[r.Network])
			p.Statuses = append(p.Statuses, codes[r.Status])
		}
		changed, err = q.Store(ctx, p)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("line: store: %w", err)
	}
	return changed, nil
}

// networkIDs returns the ids of all networks, after adding those that records
// name for the first time.
func networkIDs(ctx context.Context, q *db.Queries, tx pg.Tx, records []Record) (map[string]int16, error) {
	// Two loaders that add networks at the same moment would pick the same id.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof networks', 0))`); err != nil {
		return nil, err
	}
	rows, err := q.Networks(ctx)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]int16, len(rows))
	for _, r := range rows {
		ids[r.Name] = r.ID
	}
	for _, r := range records {
		if _, ok := ids[r.Network]; !ok {
			if ids[r.Network], err = q.AddNetwork(ctx, r.Network); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}
