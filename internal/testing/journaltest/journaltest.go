// Package journaltest writes records of the journal without the journal, for tests that
// need many of them, old ones or wrong ones.
package journaltest

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/evidence/record"
)

// Fields names the columns of a record, in the order of [Row].
const Fields = `request_id, at, epoch, n, idx, type, entity_id, key_id, mode, purpose, purpose_text, status, reason, mobile_network, line_version,
	policy_version, plan_version, rules, coverage, number, phone_number, correlator, external_id, on_behalf_of, options, extra, nonce, hash`

// Columns returns the names of Fields one by one.
func Columns() []string {
	return strings.FieldsFunc(Fields, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// Insert is the statement that writes the values of [Row].
func Insert() string {
	places := make([]string, len(Columns()))
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	return "INSERT INTO journal_entry (" + Fields + ") VALUES (" + strings.Join(places, ", ") + ")"
}

// Row returns the values of a record in its place in a batch.
func Row(e *record.Entry, epoch, n int64, idx int) []any {
	hash := e.Hash()
	return []any{
		[16]byte(e.RequestID), e.At, epoch, n, int32(idx), e.Type, [16]byte(e.Entity), [16]byte(e.Key), e.Mode, e.Purpose, e.PurposeText, e.Status,
		e.Reason, e.MobileNetwork, e.LineVersion, e.PolicyVersion, e.PlanVersion, e.Rules, e.Coverage[:], e.Number, e.PhoneNumber, e.Correlator,
		e.ExternalID, e.OnBehalfOf, e.Options, e.Extra, e.Nonce[:], hash[:],
	}
}

// MakeDay creates the partitions of a day of the past, as the service makes those of the
// days to come. The caller is a superuser or the owner.
func MakeDay(ctx context.Context, db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, day time.Time,
) error {
	_, err := db.Exec(ctx, `SELECT journal_make_day(($1::timestamptz AT TIME ZONE 'UTC')::date)`, day)
	return err
}
