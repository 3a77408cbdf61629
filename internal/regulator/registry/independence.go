package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

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
	// accessCosigned says that a second administrator has confirmed who the person is;
	// what others did before that was requested no longer counts.
	accessCosigned AccessChange = "cosigned"
)

// RecordAccess records, in the transaction of the change, who alone gave access to a
// member of staff or to a client. They could act as that person, so that
// [CheckIndependent] does not take the two for two people until another administrator
// has confirmed who the person is.
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
	_, err := tx.Exec(ctx, `INSERT INTO access_given (subject_id, by_id, how, before_staff, at) VALUES ($1, $2, $3, $4, $5)`, subject, by.ID, how, first, at)
	return fault.Wrap(err, "registry: record who gave access")
}

// beforeStaff reports whether there are neither founders nor two administrators.
func beforeStaff(ctx context.Context, from pg.DB) (before bool, err error) {
	err = from.QueryRow(ctx, `SELECT (SELECT count(*) FROM account WHERE kind = 'staff' AND role = 'administrator' AND disabled_at IS NULL) < $1
		AND NOT EXISTS (SELECT FROM access_given WHERE how = 'founder')`, minAdministrators).Scan(&before)
	return before, fault.Wrap(err, "registry: look for administrators and founders")
}

// RecordStaffAccess is [RecordAccess] for an account that may belong to an
// organisation, whose people confirm nothing.
func RecordStaffAccess(ctx context.Context, tx pg.Tx, a Account, how AccessChange, by audit.Actor, at time.Time) error {
	if a.Kind != StaffAccount {
		return nil
	}
	return RecordAccess(ctx, tx, a.ID, how, by, at)
}

// notCosigned is the condition that no second person confirmed the subject of a record g after
// it. The first argument of the statement is what signedCosignatures returned.
const notCosigned = `NOT EXISTS (SELECT FROM access_given c WHERE c.subject_id = g.subject_id AND c.how = 'cosigned' AND c.id = ANY($1::uuid[]) AND c.at >= g.at)`

// sameOriginSQL reports whether somebody stands behind both actors: one of them is the
// other, or gave access to the other, or a third gave it to both, directly or through
// further accounts.
const sameOriginSQL = `WITH RECURSIVE behind (side, who) AS (
		SELECT CASE WHEN s = $2::uuid THEN 1 ELSE 2 END, s FROM unnest(ARRAY[$2::uuid, $3::uuid]) s
		UNION
		SELECT b.side, g.by_id FROM behind b JOIN access_given g ON g.subject_id = b.who
		WHERE g.how NOT IN ('founder', 'cosigned') AND (NOT g.before_staff OR g.by_id IN ($2::uuid, $3::uuid)) AND ` + notCosigned + `
	)
	SELECT EXISTS (SELECT FROM behind x JOIN behind y ON x.who = y.who WHERE x.side = 1 AND y.side = 2)`

// CheckIndependent returns nil if two actors are two people: nobody stands behind
// both of them. Behind an actor stands everybody who alone created, raised or reset
// its access, and whoever stands behind those, until a second administrator confirms who
// the person is; time changes nothing. So neither an account and its creator nor two
// accounts of one creator are independent. Whoever added a secret to a client stays
// behind it. What the
// operator set up while there were fewer than two administrators separates only the
// operator from it; founders were created by nobody alone.
func CheckIndependent(ctx context.Context, from pg.DB, one, other audit.Actor) error {
	if one.ID == other.ID {
		return approval.ErrNotIndependent
	}
	cosignatures, err := signedCosignatures(ctx, from)
	if err != nil {
		return err
	}
	var shared bool
	err = from.QueryRow(ctx, sameOriginSQL, cosignatures, one.ID, other.ID).Scan(&shared)
	if err != nil {
		return fmt.Errorf("registry: check that two people are independent: %w", err)
	}
	if shared {
		return approval.ErrNotIndependent
	}
	return nil
}

// sameStaffSQL returns the members of staff behind whom stands a person who also stands behind
// an account, or who stand behind it themselves, and the account. The operator has the zero id.
const sameStaffSQL = `WITH RECURSIVE given AS (
		SELECT g.subject_id, g.by_id FROM access_given g
		WHERE g.how NOT IN ('founder', 'cosigned') AND g.by_id <> '00000000-0000-0000-0000-000000000000' AND ` + notCosigned + `
	), behind (who) AS (
		SELECT $2::uuid
		UNION
		SELECT g.by_id FROM behind b JOIN given g ON g.subject_id = b.who
	), grown (who) AS (
		SELECT who FROM behind
		UNION
		SELECT g.subject_id FROM grown b JOIN given g ON g.by_id = b.who
	)
	SELECT a.id FROM account a JOIN grown ON grown.who = a.id WHERE a.kind = 'staff' ORDER BY a.id`

// SharesPerson returns the members of staff who may be one person with an account, and the
// account: who alone gave it access, and everybody to whom the same person did, until a
// second administrator confirms who they are. The operator joins nobody: whoever has the
// command line reads the database itself.
func SharesPerson(ctx context.Context, from pg.DB, account uuid.UUID) ([]uuid.UUID, error) {
	cosignatures, err := signedCosignatures(ctx, from)
	if err != nil {
		return nil, err
	}
	all, err := pg.Collect(ctx, from, pgx.RowTo[uuid.UUID], sameStaffSQL, cosignatures, account)
	return all, fault.Wrap(err, "registry: find who may be one person")
}

// signedCosignatures returns the records that make two people independent, if they are
// signed. All others make them dependent, and count whether they are signed or not.
func signedCosignatures(ctx context.Context, from pg.DB) ([]uuid.UUID, error) {
	rows, err := pg.Collect(ctx, from, func(found pgx.CollectableRow) (pg.Row, error) {
		row := pg.Row{Table: "access_given"}
		return row, found.Scan(&row.ID, &row.Sum, &row.MAC)
	}, `SELECT id, row_sum, row_mac FROM access_given WHERE how = 'cosigned'`)
	if err != nil {
		return nil, fmt.Errorf("registry: read who was confirmed: %w", err)
	}
	ids := make([]uuid.UUID, 0, len(rows))
	for _, r := range rows {
		ok, err := pg.RowsSigned(ctx, from, r)
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
