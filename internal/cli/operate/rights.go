package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// plannedRights compares all rights, triggers and functions of the database with what this
// program's migrations make.
func (d *databaseChecks) plannedRights(ctx context.Context) {
	const check = "planned rights"
	have, want, err := pg.SchemaVersion(ctx, d.pool)
	if err == nil && have > want {
		d.ok(check, "not compared: the schema is that of a newer program")
		return
	}
	missing, added, err := pg.UnplannedRights(ctx, d.pool)
	if err != nil {
		d.failQuery(check, err)
		return
	}
	if len(missing) > 0 {
		d.fail(check, fmt.Sprintf("%d are missing or changed: %s", len(missing), listed(missing)), "find out who changed them, and restore them as the owner")
	}
	if len(added) > 0 {
		d.fail(check, fmt.Sprintf("%d are not planned: %s", len(added), listed(added)), "find out who added them, and revoke them as the owner")
	}
	if len(missing)+len(added) == 0 {
		d.ok(check, "rights, triggers and functions are those of this program")
	}
}

// listed joins the first of many things.
func listed(all []string) string {
	if more := len(all) - maxListed; more > 0 {
		all = append(all[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, "; ")
}
