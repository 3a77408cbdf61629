package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ImportForm describes an import to create.
type ImportForm struct {
	Kind   linefile.Kind
	AsOf   time.Time // see [Import]
	Day    string    // a date instead of AsOf, which then is the end of that day
	DryRun bool
	Once   bool // the file can be read only once, so it is not checked before it is applied
	Portal bool // it was uploaded in the portal, and not sent to the API
}

// check checks what does not depend on the file or on the database.
func (f ImportForm) check(from Supplier, now time.Time) error {
	var wrong fault.Form
	wrong.Check(f.Kind == linefile.Snapshot || f.Kind == linefile.Events, "kind", fault.NotAllowed, "Must be snapshot or events.")
	wrong.Check(f.Kind != linefile.Snapshot || !f.AsOf.IsZero(), "asOf", fault.Required, "A snapshot needs asOf, the time at which its data was correct.")
	wrong.Check(!f.AsOf.After(now.Add(maxClockSkew)), "asOf", fault.NotAllowed, "Give a time that has passed.")
	by, known := from.fileAuthority()
	wrong.Check(f.Kind != linefile.Snapshot || !known || by == line.Operator || by == line.ClearingHouse, "kind", fault.NotAllowed,
		"Send events. Only an operator sends a snapshot of its lines, and the clearing house its base of ports.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if !known {
		return errNoSender
	}
	return nil
}

// CheckImport checks whether an import could be created, before its file is sent, which
// can take long. [Service.Receive] checks the same again.
func (s *Service) CheckImport(ctx context.Context, from Supplier, f ImportForm) error {
	now := s.now()
	if err := s.resolveDay(ctx, &f, now); err != nil {
		return err
	}
	if err := f.check(from, now); err != nil {
		return err
	}
	r, err := s.rulesAt(ctx, s.Pool, now)
	if err != nil {
		return err
	}
	w, err := senderOf(from, r.plan)
	if err != nil {
		return err
	}
	return s.checkStart(ctx, s.Pool, w, f)
}

// Begin creates an import of a file that the caller keeps, and will pass to
// [Service.Run].
func (s *Service) Begin(ctx context.Context, from Supplier, f ImportForm, source string) (im Import, err error) {
	return s.createImport(ctx, from, f, source, uuid.Must(uuid.NewV7()), 0)
}

// Receive stores a file that is being sent and creates an import of it, which
// [Service.RunImports] will run. If the file is cut off, or no import can be
// created, the file is deleted.
func (s *Service) Receive(ctx context.Context, from Supplier, f ImportForm, body io.Reader) (Import, error) {
	uid := uuid.Must(uuid.NewV7())
	info, err := s.Files.Put(ctx, uid.String(), body)
	if err != nil {
		return Import{}, err
	}
	source := "api"
	if f.Portal {
		source = "portal"
	}
	im, err := s.createImport(ctx, from, f, source, uid, info.Size)
	if err != nil && !errors.Is(err, pg.ErrUnknown) { // after an unknown commit the import may exist
		ctx := context.WithoutCancel(ctx) // the sender may have closed the connection
		if _, missing := s.Import(ctx, uid); errors.Is(missing, ErrNoImport) {
			err = errors.Join(err, s.Files.Delete(ctx, uid.String()))
		}
	}
	return im, err
}

func (s *Service) createImport(ctx context.Context, from Supplier, f ImportForm, source string, uid uuid.UUID, size int64) (im Import, err error) {
	now := s.now()
	if err := s.resolveDay(ctx, &f, now); err != nil {
		return Import{}, err
	}
	if err := f.check(from, now); err != nil {
		return Import{}, err
	}
	f.AsOf = f.AsOf.Truncate(time.Second) // the precision of line.Instant
	state := Checking
	if f.Once && !f.DryRun {
		state = Applying
	}
	err = s.inTx(ctx, func(tx pg.Tx) error {
		r, err := s.rulesAt(ctx, tx, now)
		if err != nil {
			return err
		}
		supplier, err := s.resolve(ctx, tx, from, r)
		if err != nil {
			return err
		}
		w, err := senderOf(from, r.plan)
		if err != nil {
			return err
		}
		if err := w.lock(ctx, tx); err != nil {
			return err
		}
		if err := s.checkStart(ctx, tx, w, f); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO supply_import (uid, authority, network, supplier, kind, as_of, dry_run, source, client_id, state, bytes, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`, uid, int16(w.authority), w.network, supplier.supplierIDs[w.authority],
			string(f.Kind), orNull(f.AsOf), f.DryRun, source, idOrNull(from.Client), state, size, now)
		if err != nil {
			return fmt.Errorf("supply: create an import: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: from.Actor, Action: audit.ImportBegun, Subject: uid,
			After: map[string]any{"network": from.Network, "authority": w.authority.String(), "kind": f.Kind, "dryRun": f.DryRun, "source": source, "bytes": size},
		})
	})
	if err != nil {
		return Import{}, err
	}
	return s.Import(ctx, uid)
}

// checkStart refuses an import while another one of the sender is open or being voided, or if
// its file cannot be applied over the stored lines.
func (s *Service) checkStart(ctx context.Context, from pg.DB, w sender, f ImportForm) error {
	var open, voiding bool
	err := from.QueryRow(ctx, `SELECT count(*) FILTER (WHERE state <> 'voiding') > 0, count(*) FILTER (WHERE state = 'voiding') > 0
		FROM supply_import WHERE state IN ('checking', 'held', 'applying', 'voiding') AND `+sentBy, w.args()...).Scan(&open, &voiding)
	if err != nil {
		return fmt.Errorf("supply: create an import: %w", err)
	}
	if open {
		return ErrImportOpen
	}
	if voiding {
		return ErrVoiding
	}
	if err := s.checkNewer(ctx, from, w, f); err != nil {
		return err
	}
	if f.Once && !f.DryRun && alwaysHeld(w.authority, f.Kind) {
		return errReadOnceHeld
	}
	return s.checkReadOnce(ctx, from, w.network, f)
}

// checkNewer refuses a snapshot that is not newer than the last one, and a second base.
func (s *Service) checkNewer(ctx context.Context, from pg.DB, w sender, f ImportForm) error {
	if f.Kind != linefile.Snapshot {
		return nil
	}
	if w.authority == line.ClearingHouse {
		return checkBase(ctx, from)
	}
	last, err := lastSnapshot(ctx, from, w.network)
	if err != nil {
		return err
	}
	if !f.AsOf.After(last) {
		return fault.New(fault.IncompatibleState, "A snapshot of this network with the same or a later asOf has already been applied. Send a newer one.")
	}
	return nil
}

// checkReadOnce refuses a snapshot that can be read only once if the network has
// lines: it could not be compared with them before it is applied.
func (s *Service) checkReadOnce(ctx context.Context, from pg.DB, n numbering.Network, f ImportForm) error {
	if f.Kind != linefile.Snapshot || !f.Once || f.DryRun {
		return nil
	}
	var lines int64
	err := from.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM network_lines WHERE network = $1), 0)`, n).Scan(&lines)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	if lines > 0 {
		return fault.New(fault.IncompatibleState,
			"The network already has lines, so the snapshot must be compared with them before it is applied, which takes a second reading. Give a file, not standard input.")
	}
	return nil
}

// lastSnapshot returns asOf of the network's last applied snapshot; the zero time
// if there is none.
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
