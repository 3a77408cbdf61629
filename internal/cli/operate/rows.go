package operate

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	all, found := int64(0), 0
	report := func(ids []uuid.UUID, format, table, advice string) {
		if len(ids) == 0 {
			return
		}
		found += len(ids)
		var texts []string
		for _, id := range ids {
			texts = append(texts, id.String())
		}
		d.fail(check, fmt.Sprintf(format, len(ids), table, listed(texts)), advice)
	}
	for _, t := range tables {
		all += t.Rows
		report(t.Broken, "the service did not write %d rows of %s and does not accept them: %s", t.Name,
			"compare them with the audit trail; see: lineproof rows accept --help")
		report(t.Old, "%d rows of %s are not those that the service wrote last: %s", t.Name,
			"somebody wrote old rows back: change the login of the service, compare them with the audit trail, end what has ended; see: lineproof rows accept --help")
	}
	if found == 0 {
		d.ok(check, fmt.Sprintf("the service wrote all %d rows that decide access", all))
	}
}
