package doctor

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/rowmac"
	"github.com/lineproof/lineproof/internal/secret"
)

// maxListed is how many things of a kind the doctor prints.
const maxListed = 10

// rows checks that the service wrote every row that decides access.
func (d *databaseChecks) rows(ctx context.Context, peppers *secret.Peppers) {
	const check = "rows"
	tables, err := rowmac.Check(ctx, d.pool, peppers)
	if err != nil {
		d.failQuery(check, err)
		return
	}
	all, broken := int64(0), 0
	for _, t := range tables {
		all += t.Rows
		broken += len(t.Broken)
		if len(t.Broken) == 0 {
			continue
		}
		var ids []string
		for _, id := range t.Broken {
			ids = append(ids, id.String())
		}
		d.fail(check, fmt.Sprintf("the service did not write %d rows of %s and does not accept them: %s", len(t.Broken), t.Name, listed(ids)),
			"compare them with the audit trail; see: lineproof rows accept --help")
	}
	if broken == 0 {
		d.ok(check, fmt.Sprintf("the service wrote all %d rows that decide access", all))
	}
}
