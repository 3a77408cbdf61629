package pg

import (
	"bytes"
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// An HMAC does not show that a row is the newest one: somebody may have written it back as it
// once was. So whoever signs a row that has changed adds a record of what it signed, and the
// service may not remove one. A row that never changed has no record, and no other state.

// RowRecord is the newest record of a row. Its number is 0 if there is none.
type RowRecord struct {
	N        int64
	Sum, MAC []byte
}

// Of says whether the record, or that there is none, is genuine and is of the row as it is.
func (r RowRecord) Of(row Row, peppers *secret.Peppers) secret.RowMAC {
	if r.N == 0 {
		return secret.RowSigned
	}
	if !bytes.Equal(r.Sum, row.Sum) {
		return secret.RowBroken
	}
	return peppers.CheckRow(recordTable, r.signed(row.Table, row.ID), r.MAC)
}

// recordTable stands for the table in the HMAC of a record.
const recordTable = "row_signed"

func (r RowRecord) signed(table string, id uuid.UUID) []byte {
	return fmt.Appendf(nil, "%s %s %d %x", table, id, r.N, r.Sum)
}

// newest reports whether a row was the newest before its change.
func (k *RowKeys) newest(was Row, newest RowRecord) bool {
	if newest.Of(was, k.Peppers) != secret.RowBroken {
		return true
	}
	k.refuse(was)
	return false
}

// signedRow is a row with its HMAC and, if its number is not 0, the record of that.
type signedRow struct {
	Row

	record RowRecord
}

// sign signs a row, and makes a record that supersedes the newest.
func (k *RowKeys) sign(r Row, record bool, newest RowRecord) signedRow {
	s := signedRow{Row: r}
	s.MAC = k.Peppers.SignRow(r.Table, r.Sum)
	if record {
		s.record = RowRecord{N: newest.N + 1, Sum: r.Sum}
		s.record.MAC = k.Peppers.SignRow(recordTable, s.record.signed(r.Table, r.ID))
	}
	return s
}

func sendMACs(ctx context.Context, to DB, tables map[string][]signedRow) error {
	if len(tables) == 0 {
		return nil
	}
	var batch pgx.Batch
	for name, rows := range tables {
		ids, sums, macs := make([]uuid.UUID, len(rows)), make([][]byte, len(rows)), make([][]byte, len(rows))
		numbers, records := make([]int64, len(rows)), make([][]byte, len(rows))
		for i, r := range rows {
			ids[i], sums[i], macs[i] = r.ID, r.Sum, r.MAC
			numbers[i], records[i] = r.record.N, r.record.MAC
		}
		// A row that has another sum by now was changed by somebody else, or by nobody. A number
		// that is taken by now was taken by another node for the same sum, or by a thief: then
		// the record is not genuine, which is found.
		batch.Queue(fmt.Sprintf(`WITH signed AS (
				UPDATE %s t SET row_mac = m.mac FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[]) AS m (id, sum, mac, n, record)
				WHERE t.%s = m.id AND t.row_sum = m.sum RETURNING m.id, m.sum, m.n, m.record
			) INSERT INTO row_signed (table_name, id, n, sum, mac) SELECT $6, id, n, sum, record FROM signed WHERE n > 0 ON CONFLICT DO NOTHING`,
			pgx.Identifier{name}.Sanitize(), RowID(name)), ids, sums, macs, numbers, records, name)
	}
	return fault.Wrap(to.SendBatch(ctx, &batch).Close(), "pg: sign rows")
}

// RecordedRow is a row with its newest record.
type RecordedRow struct {
	Row

	Newest RowRecord
}

// SetRowMACs signs rows as they were read, whether they were signed before or not; package
// rowmac decides which. A row that was not gets a record in any case.
func SetRowMACs(ctx context.Context, tx Tx, peppers *secret.Peppers, rows []RecordedRow) error {
	keys, tables := &RowKeys{Peppers: peppers}, map[string][]signedRow{}
	for _, r := range rows {
		broken := peppers.CheckRow(r.Table, r.Sum, r.MAC) == secret.RowBroken
		tables[r.Table] = append(tables[r.Table], keys.sign(r.Row, broken || r.Newest.N > 0, r.Newest))
	}
	return sendMACs(ctx, tx, tables)
}

// pruneDays is longer than a row is valid that the service may delete, which are sessions,
// tokens and links: what somebody writes back after its record was removed has expired.
const pruneDays = 90

// PruneRecords removes records of signed rows that no check needs: those that another one has
// superseded, and those of rows that are gone. It returns how many, and takes the rights of
// the owner.
func PruneRecords(ctx context.Context, pool *pgxpool.Pool) (removed int64, err error) {
	for _, table := range SignedTables {
		tag, err := pool.Exec(ctx, fmt.Sprintf(`DELETE FROM row_signed s WHERE table_name = $1 AND at < now() - make_interval(days => $2) AND (
				EXISTS (SELECT FROM row_signed o WHERE o.table_name = s.table_name AND o.id = s.id AND o.n > s.n)
				OR NOT EXISTS (SELECT FROM %s t WHERE t.%s = s.id))`, pgx.Identifier{table}.Sanitize(), RowID(table)), table, pruneDays)
		if err != nil {
			return removed, fmt.Errorf("pg: remove superseded records: %w", err)
		}
		removed += tag.RowsAffected()
	}
	return removed, nil
}
