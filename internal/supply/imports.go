package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// The states of an import.
const (
	Checking  = "checking"  // the file is read and compared; nothing is applied
	Held      = "held"      // it would change so much that staff must confirm it
	Applying  = "applying"  // chunk by chunk
	Finished  = "applied"   // all of it
	Checked   = "checked"   // a dry run is over
	Rejected  = "refused"   // as a whole; Reason says why
	Cancelled = "cancelled" // by staff
)

var (
	// ErrNoImport reports an import that does not exist, or is another network's.
	ErrNoImport = fault.New(fault.NotFound, "There is no such import.")
	// ErrImportOpen reports that an earlier import of the network is not finished.
	ErrImportOpen = fault.New(fault.IncompatibleState, "An earlier import of this network is not finished. Wait for it, or ask the regulator to cancel it.")
	// ErrNotHeld reports that there is nothing to confirm.
	ErrNotHeld = fault.New(fault.IncompatibleState, "This import is not waiting to be confirmed.")
	// ErrImportOver reports that there is nothing to cancel.
	ErrImportOver = fault.New(fault.IncompatibleState, "This import is over.")
	errNoOperator = fault.New(fault.PermissionDenied, "Only an operator sends files of its lines. Ask the regulator for a client of your network.")
	errBusy       = fault.New(fault.Aborted, "Another process works on this import, or it was cancelled.")
)

// Import is a file of lines or events, and how far it has been dealt with.
type Import struct {
	ID       uuid.UUID
	Network  numbering.Network
	Kind     linefile.Kind
	AsOf     time.Time // of a snapshot; of events: supplied through; zero when not said
	DryRun   bool
	Source   string // api or cli
	State    string
	Reason   string // why it is held or was refused
	Bytes    int64
	Rows     int64 // dealt with in this phase
	Counts   Counts
	Created  time.Time
	Started  time.Time
	Updated  time.Time
	Finished time.Time

	id       int32
	supplier int32
	place    int64
	cursor   int64
	digest   []byte
	checked  []byte // the digest of the whole file, once it was read
	client   uuid.NullUUID
}

// Counts is what became of the rows.
type Counts struct {
	Added, Changed, Unchanged, Ended, Duplicates, NoEffect, PortedOut, Refused int64
}

func (c *Counts) add(o Counts) {
	c.Added += o.Added
	c.Changed += o.Changed
	c.Unchanged += o.Unchanged
	c.Ended += o.Ended
	c.Duplicates += o.Duplicates
	c.NoEffect += o.NoEffect
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

// Open reports whether the import is not over yet.
func (i *Import) Open() bool { return i.State == Checking || i.State == Held || i.State == Applying }

// ImportForm asks for an import.
type ImportForm struct {
	Kind   linefile.Kind
	AsOf   time.Time
	DryRun bool
	Once   bool // the file can be read only once, so it is not checked before it is applied
}

// check refuses what cannot become an import, whatever the file is.
func (f ImportForm) check(s Speaker, now time.Time) error {
	var wrong fault.Form
	wrong.Check(f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Give snapshot or events.")
	wrong.Check(f.Kind != linefile.Snapshot || !f.AsOf.IsZero(), "asOf", fault.Required, "A snapshot needs the time of which it speaks.")
	wrong.Check(!f.AsOf.After(now.Add(skew)), "asOf", fault.NotAllowed, "Give a time that has passed.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if !slices.Contains(s.Authorities, line.Operator) {
		return errNoOperator
	}
	return nil
}

// Ready says what stands against an import before its file is sent, which can
// take long. What changes meanwhile, [Desk.Receive] finds.
func (d *Desk) Ready(ctx context.Context, s Speaker, f ImportForm) error {
	now := d.now()
	if err := f.check(s, now); err != nil {
		return err
	}
	r, err := d.rulesAt(ctx, d.Pool, now)
	if err != nil {
		return err
	}
	n, ok := r.plan.Network(s.Network)
	if !ok {
		return ErrNoNetwork
	}
	return d.room(ctx, d.Pool, n, f)
}

// Begin makes an import for a file that the caller holds.
func (d *Desk) Begin(ctx context.Context, s Speaker, f ImportForm, source string) (im Import, err error) {
	return d.begin(ctx, s, f, source, uuid.Must(uuid.NewV7()), 0)
}

// Receive stores a file that is being sent and makes an import of it, which
// [Desk.Work] will deal with. Nothing is left of a file that breaks off, or of
// which no import is made.
func (d *Desk) Receive(ctx context.Context, s Speaker, f ImportForm, body io.Reader) (Import, error) {
	uid := uuid.Must(uuid.NewV7())
	info, err := d.Files.Put(ctx, uid.String(), body)
	if err != nil {
		return Import{}, err
	}
	im, err := d.begin(ctx, s, f, "api", uid, info.Size)
	if err != nil && !errors.Is(err, pg.ErrUnknown) {
		ctx := context.WithoutCancel(ctx)
		if _, missing := d.Import(ctx, uid); errors.Is(missing, ErrNoImport) {
			err = errors.Join(err, d.Files.Delete(ctx, uid.String()))
		}
	}
	return im, err
}

func (d *Desk) begin(ctx context.Context, s Speaker, f ImportForm, source string, uid uuid.UUID, size int64) (im Import, err error) {
	now := d.now()
	if err := f.check(s, now); err != nil {
		return Import{}, err
	}
	f.AsOf = f.AsOf.Truncate(time.Second) // what rows know of time
	state := Checking
	if f.Once && !f.DryRun {
		state = Applying
	}
	err = d.inTx(ctx, func(tx pg.Tx) error {
		r, err := d.rulesAt(ctx, tx, now)
		if err != nil {
			return err
		}
		v, err := d.hear(ctx, tx, s, r)
		if err != nil {
			return err
		}
		// One import of a network at a time: the lock is the network's.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof import of network ' || $1, 0))`, strconv.Itoa(int(v.network))); err != nil {
			return fmt.Errorf("supply: begin an import: %w", err)
		}
		if err := d.room(ctx, tx, v.network, f); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO supply_import (uid, network, supplier, kind, as_of, dry_run, source, client_id, state, bytes, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
			uid, v.network, v.supplier[line.Operator], string(f.Kind), orNull(f.AsOf), f.DryRun, source, idOrNull(s.Client), state, size, now)
		if err != nil {
			return fmt.Errorf("supply: begin an import: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: s.Actor, Action: audit.ImportBegun, Subject: uid,
			After: map[string]any{"network": s.Network, "kind": f.Kind, "dryRun": f.DryRun, "source": source, "bytes": size},
		})
	})
	if err != nil {
		return Import{}, err
	}
	return d.Import(ctx, uid)
}

// room refuses an import for which another one, or what is there, leaves no room.
func (d *Desk) room(ctx context.Context, from pg.DB, n numbering.Network, f ImportForm) error {
	var open bool
	err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM supply_import WHERE network = $1 AND state IN ('checking', 'held', 'applying'))`, n).Scan(&open)
	if err != nil {
		return fmt.Errorf("supply: begin an import: %w", err)
	}
	if open {
		return ErrImportOpen
	}
	if err := d.fresh(ctx, from, n, f); err != nil {
		return err
	}
	return d.firstOf(ctx, from, n, f)
}

// fresh refuses a snapshot that is not newer than the last one.
func (d *Desk) fresh(ctx context.Context, from pg.DB, n numbering.Network, f ImportForm) error {
	if f.Kind != linefile.Snapshot {
		return nil
	}
	last, err := lastSnapshot(ctx, from, n)
	if err != nil {
		return err
	}
	if !f.AsOf.After(last) {
		return fault.New(fault.IncompatibleState, "A snapshot of this network as of the same time or a later one is applied already. Send a newer one.")
	}
	return nil
}

// firstOf refuses a snapshot that can be read only once over lines that are
// there: it could not be compared with them before it is applied.
func (d *Desk) firstOf(ctx context.Context, from pg.DB, n numbering.Network, f ImportForm) error {
	if f.Kind != linefile.Snapshot || !f.Once || f.DryRun {
		return nil
	}
	var lines int64
	err := from.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM supply_coverage WHERE network = $1), 0)`, n).Scan(&lines)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	if lines > 0 {
		return fault.New(fault.IncompatibleState,
			"The network has lines, so a snapshot is compared with them before it is applied, and read twice for that. Give a file, not standard input.")
	}
	return nil
}

// lastSnapshot returns the time of which the network's last snapshot speaks; the
// zero time if there is none.
func lastSnapshot(ctx context.Context, from pg.DB, n numbering.Network) (time.Time, error) {
	var last *time.Time
	err := from.QueryRow(ctx, `SELECT max(as_of) FROM supply_import WHERE network = $1 AND kind = 'snapshot' AND state = 'applied'`, n).Scan(&last)
	if err != nil {
		return time.Time{}, fmt.Errorf("supply: find the last snapshot: %w", err)
	}
	if last == nil {
		return time.Time{}, nil
	}
	return last.UTC(), nil
}

const importColumns = `id, uid, network, supplier, kind, as_of, dry_run, source, state, reason, bytes, rows, place, cursor, digest, file_digest,
	client_id, added, changed, unchanged, ended, duplicates, no_effect, ported_out, refused,
	created_at, started_at, updated_at, finished_at`

func scanImport(row pgx.Row) (im Import, err error) {
	var asOf, started, finished *time.Time
	c := &im.Counts
	err = row.Scan(&im.id, &im.ID, &im.Network, &im.supplier, &im.Kind, &asOf, &im.DryRun, &im.Source, &im.State, &im.Reason,
		&im.Bytes, &im.Rows, &im.place, &im.cursor, &im.digest, &im.checked, &im.client, &c.Added, &c.Changed, &c.Unchanged, &c.Ended, &c.Duplicates,
		&c.NoEffect, &c.PortedOut, &c.Refused, &im.Created, &started, &im.Updated, &finished)
	im.AsOf, im.Started, im.Finished = orZero(asOf), orZero(started), orZero(finished)
	im.Created, im.Updated = im.Created.UTC(), im.Updated.UTC()
	return im, err
}

// Import returns an import.
func (d *Desk) Import(ctx context.Context, uid uuid.UUID) (Import, error) {
	im, err := scanImport(d.Pool.QueryRow(ctx, `SELECT `+importColumns+` FROM supply_import WHERE uid = $1`, uid))
	if errors.Is(err, pgx.ErrNoRows) {
		return Import{}, ErrNoImport
	}
	if err != nil {
		return Import{}, fmt.Errorf("supply: read an import: %w", err)
	}
	return im, nil
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func idOrNull(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }
