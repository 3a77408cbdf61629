package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The states of an import.
const (
	Checking  = "checking"  // the file is being read and compared; nothing is applied
	Held      = "held"      // it would change so much that staff must confirm it
	Applying  = "applying"  // its rows are being applied, chunk by chunk
	Finished  = "applied"   // all of its rows are applied
	Checked   = "checked"   // a dry run has finished
	Rejected  = "refused"   // the whole file was rejected; Reason says why
	Cancelled = "cancelled" // by staff, or by its sender
	Voiding   = "voiding"   // staff void a snapshot that was applied; what it changed is being taken back
	Voided    = "voided"    // all of that is taken back
)

var (
	// ErrNoImport reports an import that does not exist, or is another network's.
	ErrNoImport = fault.New(fault.NotFound, "There is no such import.")
	// ErrImportOpen reports that an earlier import of the network is not finished.
	ErrImportOpen = fault.New(fault.IncompatibleState, "An earlier import of yours is not finished. Wait for it, or cancel it.")
	// ErrNotHeld reports that an import is not held, so that it cannot be confirmed.
	ErrNotHeld = fault.New(fault.IncompatibleState, "This import is not waiting to be confirmed.")
	// ErrImportFinished reports that an import is finished, so that it cannot be cancelled.
	ErrImportFinished = fault.New(fault.IncompatibleState, "This import is already finished.")
	errBusy           = fault.New(fault.Aborted, "Another process is running this import, or it was cancelled.")
)

// Import is a file of lines or events, and its progress.
type Import struct {
	ID uuid.UUID
	// Authority is in which role it was sent, and Network whose it is: 0 unless it is an operator's.
	Authority line.Authority
	Network   numbering.Network
	Kind      linefile.Kind
	AsOf      time.Time // when a snapshot was correct; for events, up to when all are reported, zero if not given
	DryRun    bool
	Source    string // api, portal or cli
	State     string
	Reason    string // why it is held or was rejected
	Bytes     int64
	Rows      int64 // rows read in this state
	Counts    Counts
	Voided    int64 // lines from which voiding has taken back what the snapshot said
	Created   time.Time
	Started   time.Time
	Updated   time.Time
	Finished  time.Time

	id         int32
	supplier   int32
	phase      string // of the state
	place      int64  // the line of the file up to which rows are applied
	cursor     int64  // for a snapshot, the last number that was searched for missing ones, or was voided
	digest     []byte // of the file up to place
	fileDigest []byte // of the whole file, once it was checked
	client     uuid.NullUUID
}

// Counts is the number of rows by result.
type Counts struct {
	Added, Changed, Unchanged, Ended, Duplicates, NoEffect, Waiting, PortedOut, Refused int64
}

func (c *Counts) add(o Counts) {
	c.Added += o.Added
	c.Changed += o.Changed
	c.Unchanged += o.Unchanged
	c.Ended += o.Ended
	c.Duplicates += o.Duplicates
	c.NoEffect += o.NoEffect
	c.Waiting += o.Waiting
	c.PortedOut += o.PortedOut
	c.Refused += o.Refused
}

// Rate returns the rows per second so far.
func (i *Import) Rate() float64 {
	took := i.Updated.Sub(i.Started).Seconds()
	if i.Started.IsZero() || took <= 0 {
		return 0
	}
	return float64(i.Rows) / took
}

// Open reports whether the import is not finished.
func (i *Import) Open() bool { return i.State == Checking || i.State == Held || i.State == Applying }

// Key returns the number under which package filerows keeps rows of the import.
func (i *Import) Key() int32 { return i.id }

// Import returns an import.
func (s *Service) Import(ctx context.Context, uid uuid.UUID) (Import, error) {
	return findImport(ctx, s.Pool, uid)
}

func findImport(ctx context.Context, from pg.DB, uid uuid.UUID) (Import, error) {
	im, err := scanImport(from.QueryRow(ctx, `SELECT `+importColumns+` FROM supply_import WHERE uid = $1`, uid))
	if errors.Is(err, pgx.ErrNoRows) {
		return Import{}, ErrNoImport
	}
	if err != nil {
		return Import{}, fmt.Errorf("supply: read an import: %w", err)
	}
	return im, nil
}

// Imports lists the last imports of a network, newest first; 0 means every network.
func (s *Service) Imports(ctx context.Context, n numbering.Network, limit int) ([]Import, error) {
	return s.queryImports(ctx, `SELECT `+importColumns+` FROM supply_import WHERE $1 = 0 OR network = $1 ORDER BY id DESC LIMIT $2`, int32(n), limit)
}

// ImportFilter selects imports. Its zero value selects all.
type ImportFilter struct {
	Network numbering.Network
	Open    bool      // only those that are not finished
	After   uuid.UUID // only imports that are older than this one
	Limit   int
}

// ImportPage lists imports, newest first. Next is the After of the next page, and
// zero on the last page.
func (s *Service) ImportPage(ctx context.Context, f ImportFilter) (list []Import, next uuid.UUID, err error) {
	list, err = s.queryImports(ctx, `SELECT `+importColumns+` FROM supply_import
		WHERE ($1 = 0 OR network = $1) AND (NOT $2 OR state IN ('checking', 'held', 'applying'))
		AND ($3::uuid IS NULL OR id < coalesce((SELECT id FROM supply_import WHERE uid = $3), 2147483647)) ORDER BY id DESC LIMIT $4`,
		int32(f.Network), f.Open, idOrNull(f.After), f.Limit+1)
	if err != nil {
		return nil, uuid.Nil, err
	}
	if len(list) > f.Limit {
		list = list[:f.Limit]
		next = list[f.Limit-1].ID
	}
	return list, next, nil
}

func (s *Service) queryImports(ctx context.Context, sql string, args ...any) ([]Import, error) {
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (Import, error) { return scanImport(row) }, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: list imports: %w", err)
	}
	return list, nil
}

const importColumns = `id, uid, authority, network, supplier, kind, as_of, dry_run, source, state, reason, bytes, rows, phase, place, cursor, digest, file_digest,
	client_id, added, changed, unchanged, ended, duplicates, no_effect, waiting, ported_out, refused, voided,
	created_at, started_at, updated_at, finished_at`

func scanImport(row pgx.Row) (im Import, err error) {
	var asOf, started, finished *time.Time
	c := &im.Counts
	err = row.Scan(&im.id, &im.ID, &im.Authority, &im.Network, &im.supplier, &im.Kind, &asOf, &im.DryRun, &im.Source, &im.State, &im.Reason,
		&im.Bytes, &im.Rows, &im.phase, &im.place, &im.cursor, &im.digest, &im.fileDigest,
		&im.client, &c.Added, &c.Changed, &c.Unchanged, &c.Ended, &c.Duplicates, &c.NoEffect, &c.Waiting, &c.PortedOut, &c.Refused, &im.Voided,
		&im.Created, &started, &im.Updated, &finished)
	im.AsOf, im.Started, im.Finished = orZero(asOf), orZero(started), orZero(finished)
	im.Created, im.Updated = im.Created.UTC(), im.Updated.UTC()
	return im, err
}

// CountHeld returns how many imports wait for staff to confirm them.
func (s *Service) CountHeld(ctx context.Context) (held int, err error) {
	if err := s.Pool.QueryRow(ctx, `SELECT count(*) FROM supply_import WHERE state = 'held'`).Scan(&held); err != nil {
		return 0, fmt.Errorf("supply: count held imports: %w", err)
	}
	return held, nil
}

var errNotApplied = fault.New(fault.IncompatibleState, "This import is not applied, so there is no receipt of it. A file has a receipt once all of its rows are applied; a dry run has none.")

// Committed returns what the public log commits to about an import that was applied. It is
// for the supplier of the file alone: who has it can recognise the entry.
func (s *Service) Committed(ctx context.Context, im Import) (committed []byte, err error) {
	if im.DryRun || im.State != Finished && im.State != Voiding && im.State != Voided {
		return nil, errNotApplied
	}
	if err := s.Pool.QueryRow(ctx, `SELECT log_supply(i) FROM supply_import i WHERE id = $1`, im.id).Scan(&committed); err != nil {
		return nil, fmt.Errorf("supply: read what the public log commits to: %w", err)
	}
	return committed, nil
}

// RefusedRows writes the rejected rows as CSV: line, column, reason.
func (s *Service) RefusedRows(ctx context.Context, im Import, w io.Writer) error {
	return filerows.WriteCSV(ctx, s.Pool, im.id, w, false)
}
