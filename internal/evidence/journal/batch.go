package journal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// batch has the entries of one transaction. Its key is chosen before the first
// attempt, so that a retry finds what an earlier attempt has written.
type batch struct {
	node     string
	epoch, n int64
	at       time.Time // of all its entries
	entries  []record.Entry
	hashes   [][sha256.Size]byte
	tree     *merkle.Levels // over the hashes
	timeline string         // of the server of the first attempt
}

var errTimes = errors.New("journal: the entries of a batch have different times")

// prepare gives entries their key in the journal and computes their hashes and the
// Merkle root. All have one time, so that reading a period always reads whole batches.
func (j *Journal) prepare(number *BatchNumber, entries []record.Entry) (*batch, error) {
	b := &batch{node: j.node, epoch: number.Epoch, n: number.N, at: entries[0].At, entries: entries, hashes: make([][sha256.Size]byte, len(entries))}
	var scratch []byte
	for i := range entries {
		if !entries[i].At.Equal(b.at) {
			return nil, errTimes
		}
		b.hashes[i], scratch = entries[i].HashWith(scratch)
	}
	b.tree = merkle.NewLevels(len(entries), func(i int) []byte { return b.hashes[i][:] })
	return b, nil
}

// Prepared is a batch whose key and tree are fixed, and which may not be committed yet.
type Prepared struct {
	Epoch, N int64
	At       time.Time
	Entries  []record.Entry
	Tree     *merkle.Levels // over the hashes of the entries
}

func (b *batch) prepared() *Prepared { return &Prepared{b.epoch, b.n, b.at, b.entries, b.tree} }

// Write writes entries as one batch of a node, in the transaction of a caller who numbers
// the batches and stores in the same transaction what it needs to know of them.
func Write(ctx context.Context, tx pg.Tx, node string, number *BatchNumber, entries []record.Entry) (*Prepared, error) {
	b, err := (&Journal{node: node}).prepare(number, entries)
	if err != nil {
		return nil, err
	}
	return b.write(ctx, tx)
}

func (b *batch) write(ctx context.Context, tx pg.Tx) (*Prepared, error) {
	written, _, err := b.insert(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !written {
		return nil, errKeyTaken
	}
	return b.prepared(), nil
}

var errKeyTaken = errors.New("journal: another batch has the key of this one")

// entryFields are the columns of a record beside those of its batch, in the order of
// values and scanEntry.
const entryFields = `request_id, at, type, entity_id, key_id, mode, purpose, purpose_text, status, reason, mobile_network, line_version,
	policy_version, plan_version, rules, coverage, number, phone_number, correlator, external_id, on_behalf_of, options, extra, nonce, hash`

// insertBatch writes a batch and its entries, or nothing if the batch exists
// already. It returns the timeline of the server, which is the start of every WAL
// file name: it changes when a standby takes over, and only then.
const insertBatch = `WITH b AS (INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING RETURNING epoch, n),
	e AS (INSERT INTO journal_entry (epoch, n, idx, ` + entryFields + `)
		SELECT b.epoch, b.n, t.o - 1, ` + entryFields + `
		FROM b, unnest($7::uuid[], $8::timestamptz[], $9::text[], $10::uuid[], $11::uuid[], $12::text[], $13::text[],
			$14::text[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::integer[], $20::integer[], $21::integer[], $22::bytea[], $23::bigint[],
			$24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::bytea[], $31::bytea[]) WITH ORDINALITY AS t (` + entryFields + `, o))
	SELECT (SELECT count(*) FROM b) = 1, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`

// insert writes the batch unless it exists, and returns whether it wrote it and
// on which timeline.
func (b *batch) insert(ctx context.Context, tx pg.Tx) (written bool, timeline string, err error) {
	statement, err := prepareInsert(ctx, tx)
	if err != nil {
		return false, "", err
	}
	binaryFormat := []int16{1}
	result := tx.Conn().PgConn().ExecPrepared(ctx, statement.Name, b.values(), binaryFormat, binaryFormat).Read()
	switch {
	case result.Err != nil:
		return false, "", fmt.Errorf("journal: write: %w", result.Err)
	case len(result.Rows) != 1:
		return false, "", errResultFormat
	}
	return readInserted(result.Rows[0])
}

var errResultFormat = errors.New("journal: write: unexpected result format")

// readInserted reads the row that insertBatch returns.
func readInserted(row [][]byte) (written bool, timeline string, err error) {
	if len(row) != 2 || len(row[0]) != 1 {
		return false, "", errResultFormat
	}
	return row[0][0] == 1, string(row[1]), nil
}

const insertName = "journal_insert"

func prepareInsert(ctx context.Context, tx pg.Tx) (*pgconn.StatementDescription, error) {
	statement, err := tx.Conn().Prepare(ctx, insertName, insertBatch)
	if err != nil {
		return nil, fmt.Errorf("journal: prepare: %w", err)
	}
	return statement, nil
}

// Warm prepares the statement on a connection, so that the next batch need not.
func (j *Journal) Warm(ctx context.Context, tx pg.Tx) error {
	_, err := prepareInsert(ctx, tx)
	return err
}

// values returns the parameters of insertBatch in PostgreSQL's binary format: every
// entry has 25, and pgx's encoding by type would cost more than all the rest.
func (b *batch) values() [][]byte {
	text := func(s string) []byte { return []byte(s) }
	number := func(to []byte, n int64) []byte { return binary.BigEndian.AppendUint64(to, uint64(n)) } //nolint:gosec // two's complement is the format
	short := func(to []byte, n int32) []byte { return binary.BigEndian.AppendUint32(to, uint32(n)) }  //nolint:gosec // two's complement is the format
	column := func(oid uint32, element func(to []byte, i int) []byte) []byte {
		return pg.BinaryArray(oid, len(b.entries), element)
	}
	texts := func(of func(*record.Entry) string) []byte {
		return column(pgtype.TextOID, func(to []byte, i int) []byte { return append(to, of(&b.entries[i])...) })
	}
	return [][]byte{
		text(b.node), number(nil, b.epoch), number(nil, b.n), pg.AppendBinaryTime(nil, b.at), short(nil, int32(len(b.entries))), b.tree.Root()[:], //nolint:gosec // far below 2^31
		column(pgtype.UUIDOID, func(to []byte, i int) []byte { return append(to, b.entries[i].RequestID[:]...) }),
		column(pgtype.TimestamptzOID, func(to []byte, i int) []byte { return pg.AppendBinaryTime(to, b.entries[i].At) }),
		texts(func(e *record.Entry) string { return e.Type }),
		column(pgtype.UUIDOID, func(to []byte, i int) []byte { return append(to, b.entries[i].Entity[:]...) }),
		column(pgtype.UUIDOID, func(to []byte, i int) []byte { return append(to, b.entries[i].Key[:]...) }),
		texts(func(e *record.Entry) string { return e.Mode }),
		texts(func(e *record.Entry) string { return e.Purpose }),
		texts(func(e *record.Entry) string { return e.PurposeText }),
		texts(func(e *record.Entry) string { return e.Status }),
		texts(func(e *record.Entry) string { return e.Reason }),
		texts(func(e *record.Entry) string { return e.MobileNetwork }),
		column(pgtype.Int8OID, func(to []byte, i int) []byte { return number(to, b.entries[i].LineVersion) }),
		column(pgtype.Int4OID, func(to []byte, i int) []byte { return short(to, b.entries[i].PolicyVersion) }),
		column(pgtype.Int4OID, func(to []byte, i int) []byte { return short(to, b.entries[i].PlanVersion) }),
		column(pgtype.Int4OID, func(to []byte, i int) []byte { return short(to, b.entries[i].Rules) }),
		column(pgtype.ByteaOID, func(to []byte, i int) []byte { return append(to, b.entries[i].Coverage[:]...) }),
		column(pgtype.Int8OID, func(to []byte, i int) []byte { return number(to, b.entries[i].Number) }),
		texts(func(e *record.Entry) string { return e.PhoneNumber }),
		texts(func(e *record.Entry) string { return e.Correlator }),
		texts(func(e *record.Entry) string { return e.ExternalID }),
		texts(func(e *record.Entry) string { return e.OnBehalfOf }),
		texts(func(e *record.Entry) string { return e.Options }),
		texts(func(e *record.Entry) string { return e.Extra }),
		column(pgtype.ByteaOID, func(to []byte, i int) []byte { return append(to, b.entries[i].StoredNonce()...) }),
		column(pgtype.ByteaOID, func(to []byte, i int) []byte { return append(to, b.hashes[i][:]...) }),
	}
}
