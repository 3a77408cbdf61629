package pg_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// notCached are the signed tables that no node caches: each use reads them.
var notCached = "account_link approval break_glass access_given"

// Nodes are notified of a change of any signed column, because the trigger compares the sums
// and names no columns: so a column that is signed later cannot be forgotten. The rights of a
// key and the client of an organisation were, once.
func TestNodesAreNotifiedOfEverySignedColumn(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, table := range pg.SignedTables {
		rows, err := pool.Query(t.Context(), `SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname LIKE 'access\_%'`, table)
		if err != nil {
			t.Fatal(err)
		}
		triggers, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(" "+notCached+" ", " "+table+" ") {
			if len(triggers) > 0 {
				t.Errorf("%s is cached: %q", table, triggers)
			}
			continue
		}
		if len(triggers) == 0 {
			t.Errorf("a change of %s notifies nobody", table)
		}
		for _, def := range triggers {
			_, condition, has := strings.Cut(def, " WHEN ")
			condition, _, _ = strings.Cut(condition, " EXECUTE ")
			if strings.Contains(def, "UPDATE OF") || has && condition != "((old.row_sum IS DISTINCT FROM new.row_sum))" {
				t.Errorf("a change of %s notifies only sometimes: %s", table, def)
			}
		}
	}
}
