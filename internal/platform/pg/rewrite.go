package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const keptRowsKey = "lineproof: kept rows"

// RewriteTable writes the file of a table anew, with its live rows. It returns how many
// dead rows were kept because a transaction that began before they were changed can still
// see them: their bytes are in the new file, too.
func RewriteTable(ctx context.Context, conn *pgx.Conn, table string) (kept int64, err error) {
	data := conn.PgConn().CustomData()
	data[keptRowsKey] = int64(0)
	defer delete(data, keptRowsKey)
	if _, err := conn.Exec(ctx, `VACUUM (FULL, VERBOSE, ANALYZE) `+pgx.Identifier(strings.Split(table, ".")).Sanitize()); err != nil {
		return 0, fmt.Errorf("pg: write a table anew: %w", err)
	}
	kept, _ = data[keptRowsKey].(int64)
	return kept, nil
}

// watchNotices notes what the server says only in notices.
func watchNotices(conn *pgconn.PgConn, n *pgconn.Notice) {
	watchSyncWait(conn, n)
	watchRows(conn, n)
	if kept, wanted := conn.CustomData()[keptRowsKey].(int64); wanted && n.Routine == "copy_table_data" {
		var more int64
		_, _ = fmt.Sscanf(n.Detail, "%d", &more) // in every language the number comes first
		conn.CustomData()[keptRowsKey] = kept + more
	}
}
