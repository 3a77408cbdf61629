package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// dependence is how long a person who gave access alone could still use it.
const dependence = 30 * 24 * time.Hour

// AccessChange is how somebody gave access. The values are stored in the database.
type AccessChange string

// The ways to give access.
const (
	AccessCreated AccessChange = "created" // a new account, an invitation, a new client
	AccessRaised  AccessChange = "raised"  // another role
	AccessReset   AccessChange = "reset"   // a new password or secret, or no second factor

	// accessFounder says that the account was enrolled together with the other
	// founders, in front of each other: nobody gave that access alone.
	accessFounder AccessChange = "founder"
	// accessCosigned says that a second person has confirmed what was created or
	// raised before; it no longer counts as the act of one.
	accessCosigned AccessChange = "cosigned"
)

// RecordAccess records, in the transaction of the change, who alone gave access to a
// member of staff or to a client. For 30 days they could act as that person, so that
// [CheckIndependent] does not take the two for two people.
func RecordAccess(ctx context.Context, tx pg.Tx, subject uuid.UUID, how AccessChange, by audit.Actor, at time.Time) error {
	if by.Kind == audit.Account && by.ID == subject {
		return nil // their own password or factor
	}
	first := false
	if by.Kind == audit.Operator {
		var err error
		if first, err = beforeStaff(ctx, tx); err != nil {
			return err
		}
	}
	err := db.New(tx).InsertAccess(ctx, db.InsertAccessParams{SubjectID: subject, ByID: by.ID, How: string(how), BeforeStaff: first, At: at})
	if err != nil {
		return fmt.Errorf("registry: record who gave access: %w", err)
	}
	return nil
}

// beforeStaff reports whether there are neither founders nor two administrators.
func beforeStaff(ctx context.Context, from pg.DB) (bool, error) {
	n, err := db.New(from).CountAdministrators(ctx)
	if err != nil {
		return false, fmt.Errorf("registry: count administrators: %w", err)
	}
	founded, err := db.New(from).HasFounders(ctx)
	if err != nil {
		return false, fmt.Errorf("registry: look for founders: %w", err)
	}
	return n < minAdministrators && !founded, nil
}

// RecordStaffAccess is [RecordAccess] for an account that may belong to an
// organisation, whose people confirm nothing.
func RecordStaffAccess(ctx context.Context, tx pg.Tx, a Account, how AccessChange, by audit.Actor, at time.Time) error {
	if a.Kind != StaffAccount {
		return nil
	}
	return RecordAccess(ctx, tx, a.ID, how, by, at)
}

// CheckIndependent returns nil if two actors are two people: nobody stands behind
// both of them. Behind an actor stands everybody who alone created, raised or reset
// its access within the last 30 days, and whoever stands behind those. So neither an
// account and its creator nor two accounts of one creator are independent. What the
// operator set up while there were fewer than two administrators separates only the
// operator from it; founders were created by nobody alone.
func CheckIndependent(ctx context.Context, from pg.DB, one, other audit.Actor, at time.Time) error {
	if one.ID == other.ID {
		return approval.ErrNotIndependent
	}
	since := at.Add(-dependence)
	cosignatures, err := signedCosignatures(ctx, from, since)
	if err != nil {
		return err
	}
	shared, err := db.New(from).SameOrigin(ctx, db.SameOriginParams{One: one.ID, Other: other.ID, Since: since, Cosignatures: cosignatures})
	if err != nil {
		return fmt.Errorf("registry: check that two people are independent: %w", err)
	}
	if shared {
		return approval.ErrNotIndependent
	}
	return nil
}

// signedCosignatures returns the records that make two people independent, if they are
// signed. All others make them dependent, and count whether they are signed or not.
func signedCosignatures(ctx context.Context, from pg.DB, since time.Time) ([]uuid.UUID, error) {
	rows, err := db.New(from).Cosignatures(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("registry: read who was confirmed: %w", err)
	}
	ids := make([]uuid.UUID, 0, len(rows))
	for _, r := range rows {
		ok, err := pg.RowsSigned(ctx, from, pg.Row{Table: "access_given", ID: r.ID, Sum: r.RowSum, MAC: r.RowMac})
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// CheckRequester returns [approval.ErrRequesterGone] if the account that requested
// something was removed, or lost the roles for it, since then. Otherwise it keeps both
// until the transaction ends. An account is never deleted.
func CheckRequester(ctx context.Context, tx pg.Tx, by audit.Actor, roles ...string) error {
	if by.Kind != audit.Account {
		return nil
	}
	var gone bool
	var sum, mac []byte
	err := tx.QueryRow(ctx, `SELECT kind <> 'staff' OR disabled_at IS NOT NULL OR coalesce(role, '') <> ALL($2::text[]), row_sum, row_mac FROM account WHERE id = $1 FOR SHARE`,
		by.ID, roles).Scan(&gone, &sum, &mac)
	if err == nil {
		var ok bool
		ok, err = pg.RowsSigned(ctx, tx, pg.Row{Table: "account", ID: by.ID, Sum: sum, MAC: mac})
		gone = gone || !ok
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("registry: look up the requester: %w", err)
	}
	if gone {
		return approval.ErrRequesterGone
	}
	return nil
}
