package pg

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// Rows that decide access are signed: somebody who can write to the database, but does not
// have the keys of the settings, cannot make one that is accepted.
//
// Triggers set the column row_sum of such a row and tell the session, in a notice, that it
// has to sign it. [InTx] does so before COMMIT, in one batch. It signs a row that was
// changed only if it was signed before: otherwise a forged row would become a genuine one
// when somebody next changes their name. A row that was not is changed and stays unsigned,
// so that a forged row can still be revoked and stands in nobody's way.

// Row is a row that decides access, as a query returned it.
type Row struct {
	Table    string
	ID       uuid.UUID
	Sum, MAC []byte
}

// RowKeys are the keys of a pool under which rows are signed and checked.
type RowKeys struct {
	Peppers *secret.Peppers
	// Refused, if set, is called for each row that was not accepted.
	Refused func(table string, id uuid.UUID)
}

const (
	rowKeysKey     = "lineproof: row keys"
	changedRowsKey = "lineproof: changed rows"

	rowNotice = "lineproof: row changed"
)

// ErrNoRowKeys reports a change of rows that decide access, or a decision on one, over a
// connection without keys.
var ErrNoRowKeys = errors.New("pg: the connection has no keys for rows that decide access")

// keepRowKeys gives each connection of a pool the place where its keys will be.
func keepRowKeys(cfg *pgxpool.Config) {
	keys := &atomic.Pointer[RowKeys]{}
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		conn.PgConn().CustomData()[rowKeysKey] = keys
		return nil
	}
}

// UseRowKeys sets the keys of a pool that [Open] returned. They come after it, because
// the peppers are compared with the database before they are used.
func UseRowKeys(ctx context.Context, keys RowKeys, pools ...*pgxpool.Pool) error {
	for _, pool := range pools {
		conn, err := Acquire(ctx, pool)
		if err != nil {
			return err
		}
		place, ok := conn.Conn().PgConn().CustomData()[rowKeysKey].(*atomic.Pointer[RowKeys])
		conn.Release()
		if !ok {
			return ErrNoRowKeys
		}
		place.Store(&keys)
	}
	return nil
}

func rowKeys(conn *pgx.Conn) *RowKeys {
	if place, ok := conn.PgConn().CustomData()[rowKeysKey].(*atomic.Pointer[RowKeys]); ok {
		return place.Load()
	}
	return nil
}

// rowKeysOf returns the keys of a pool, a connection or a transaction, and the rows that
// it has yet to sign.
func rowKeysOf(ctx context.Context, from DB) (keys *RowKeys, unsigned []changedRow, err error) {
	switch from := from.(type) {
	case *pgxpool.Pool:
		conn, err := Acquire(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		defer conn.Release()
		keys = rowKeys(conn.Conn())
	case interface{ Conn() *pgx.Conn }: // a transaction, or a connection of a pool
		keys = rowKeys(from.Conn())
		unsigned, _ = from.Conn().PgConn().CustomData()[changedRowsKey].([]changedRow)
	}
	if keys == nil {
		return nil, nil, ErrNoRowKeys
	}
	return keys, unsigned, nil
}

// RowsSigned reports whether rows that were read from a database are signed. Whoever gets
// false must act as if there were no such row; it was reported already. A row with the zero
// id and without a sum is one that an outer join did not find. The zero id alone says nothing:
// somebody may have stored a row with it, but every row that is stored has a sum.
func RowsSigned(ctx context.Context, from DB, rows ...Row) (bool, error) {
	keys, unsigned, err := rowKeysOf(ctx, from)
	if err != nil {
		return false, err
	}
	written := keys.macs(unsigned) // by this transaction
	signed := true
	for _, r := range rows {
		own := slices.ContainsFunc(written[r.Table], func(w signedRow) bool { return w.ID == r.ID && bytes.Equal(w.Sum, r.Sum) })
		absent := r.ID == uuid.Nil && r.Sum == nil
		if !absent && !own && !keys.accepts(r) {
			signed = false
		}
	}
	return signed, nil
}

// Signed is for the error of a query that returned rows: it becomes pgx.ErrNoRows if there
// was none and a row is not signed.
func Signed(ctx context.Context, from DB, err error, rows ...Row) error {
	if err != nil {
		return err
	}
	ok, err := RowsSigned(ctx, from, rows...)
	if err == nil && !ok {
		return pgx.ErrNoRows
	}
	return err
}

func (k *RowKeys) accepts(r Row) bool {
	if k.Peppers.CheckRow(r.Table, r.Sum, r.MAC) != secret.RowBroken {
		return true
	}
	k.refuse(r)
	return false
}

func (k *RowKeys) refuse(r Row) {
	if k.Refused != nil {
		k.Refused(r.Table, r.ID)
	}
}

// changedRow is a row that the triggers reported.
type changedRow struct {
	table, id string
	sum       string // of the row as it is now
	inserted  bool
	was, mac  string // the sum and the HMAC before the change
	newest    RowRecord
}

// watchRows notes the rows that a session has to sign.
func watchRows(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Message != rowNotice {
		return
	}
	f := append(strings.Split(n.Detail, " "), "", "", "", "", "", "", "", "")
	c := changedRow{table: f[0], id: f[1], sum: unhex(f[2]), inserted: f[3] == "INSERT", was: unhex(f[4]), mac: unhex(f[5])}
	c.newest.N, _ = strconv.ParseInt(f[6], 10, 64) // PostgreSQL wrote it
	c.newest.Sum, c.newest.MAC = []byte(unhex(f[7])), []byte(unhex(f[8]))
	changed, _ := conn.CustomData()[changedRowsKey].([]changedRow)
	conn.CustomData()[changedRowsKey] = append(changed, c)
}

func unhex(s string) string {
	b, _ := hex.DecodeString(s) // PostgreSQL encoded it
	return string(b)
}

// takeChangedRows returns the rows that the session has to sign, and forgets them.
func takeChangedRows(conn *pgx.Conn) []changedRow {
	data := conn.PgConn().CustomData()
	changed, _ := data[changedRowsKey].([]changedRow)
	delete(data, changedRowsKey)
	return changed
}

// signRows signs the rows that a transaction has changed, if they were signed before. All
// sums that a row had in the transaction are tried, because a savepoint may have been
// rolled back.
func signRows(ctx context.Context, conn *pgx.Conn) error {
	changed := takeChangedRows(conn)
	if len(changed) == 0 {
		return nil
	}
	keys := rowKeys(conn)
	if keys == nil {
		return fmt.Errorf("%w: table %s", ErrNoRowKeys, changed[0].table)
	}
	return sendMACs(ctx, conn, keys.macs(changed))
}

// SignPlanted signs the rows that a session has changed outside of [InTx]. Tests plant
// rows so. The service must not: a crash in between would leave a row that is refused.
func SignPlanted(ctx context.Context, conn *pgx.Conn) error { return signRows(ctx, conn) }

// macs signs changed rows, by table, if they were signed before and nobody has written an
// older row back in between.
func (k *RowKeys) macs(changed []changedRow) map[string][]signedRow {
	trusted, tables := map[string]bool{}, map[string][]signedRow{}
	for _, c := range changed {
		name := c.table + " " + c.id + " "
		id, _ := uuid.Parse(c.id) // every table has ids
		was := Row{Table: c.table, ID: id, Sum: []byte(c.was), MAC: []byte(c.mac)}
		if !c.inserted && !trusted[name+c.was] && (!k.accepts(was) || !k.newest(was, c.newest)) {
			continue
		}
		trusted[name+c.sum] = true
		is := Row{Table: c.table, ID: id, Sum: []byte(c.sum)}
		tables[c.table] = append(tables[c.table], k.sign(is, !c.inserted || c.newest.N > 0, c.newest))
	}
	return tables
}

// SignedTables are the tables whose rows are signed.
var SignedTables = []string{
	"account", "session", "account_link", "entity", "entity_limit", "mandate", "api_key", "client", "client_secret", "access_token", "approval", "break_glass", "access_given",
}

// RowID returns the column that has the id of a row.
func RowID(table string) string {
	switch table {
	case "entity_limit":
		return "entity_id"
	case "break_glass":
		return "approval_id"
	}
	return "id"
}
