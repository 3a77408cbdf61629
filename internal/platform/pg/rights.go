package pg

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// rightsPlan is what the migrations make: a test writes it and compares.
//
//go:embed rights.txt
var rightsPlan string

// rightsSQL lists, a line each, who but the owner may do what, the triggers, and a sum of
// every function, for it may have the rights of the owner. What belongs to an extension is
// the database administrator's. Partitions are made as days pass: they have no rights of
// their own, and their triggers are those of the whole table.
const rightsSQL = `
	WITH relation AS (
		SELECT c.oid, c.relname || CASE WHEN c.relispartition THEN ' (a partition)' ELSE '' END AS name, c.relacl, c.relowner
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
	), routine AS (
		SELECT p.oid, p.oid::regprocedure::text AS name, p.proacl, p.proowner, p.prosrc, p.prosecdef, p.proconfig
		FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
	), object (name, acl, owner) AS (
		SELECT name, relacl, relowner FROM relation
		UNION ALL SELECT r.name || '.' || a.attname, a.attacl, r.relowner FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND NOT a.attisdropped
		UNION ALL SELECT name, coalesce(proacl, acldefault('f', proowner)), proowner FROM routine
		UNION ALL SELECT 'schema public', nspacl, nspowner FROM pg_namespace WHERE nspname = 'public'
	)
	SELECT format('%s: %s may %s', o.name, CASE a.grantee WHEN 0 THEN 'everybody' ELSE a.grantee::regrole::text END, string_agg(DISTINCT a.privilege_type, ', ' ORDER BY a.privilege_type))
	FROM object o, aclexplode(o.acl) a WHERE a.grantee NOT IN (o.owner, 'lineproof_owner'::regrole) GROUP BY o.name, a.grantee
	UNION ALL
	SELECT format('%s: trigger %s, %s', r.name, t.tgname, CASE t.tgenabled WHEN 'D' THEN 'off' ELSE 'on' END)
	FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal AND (t.tgparentid = 0 OR t.tgenabled = 'D')
	UNION ALL
	SELECT format('%s: function with the rights of %s, sum %s', name, CASE WHEN prosecdef THEN 'the owner' ELSE 'the caller' END, md5(coalesce(prosrc, '') || coalesce(proconfig::text, '')))
	FROM routine`

// Rights returns who may do what in the database, besides its owner, in order.
func Rights(ctx context.Context, from DB) ([]string, error) {
	lines, err := Collect(ctx, from, pgx.RowTo[string], rightsSQL)
	if err != nil {
		return nil, fmt.Errorf("pg: read the rights: %w", err)
	}
	slices.Sort(lines)
	return lines, nil
}

// UnplannedRights compares the rights, triggers and functions with those that the migrations
// of this program make.
func UnplannedRights(ctx context.Context, from DB) (missing, added []string, err error) {
	have, err := Rights(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	plan := strings.Split(strings.TrimSpace(rightsPlan), "\n")
	return without(plan, have), without(have, plan), nil
}

// without returns the lines that other does not have.
func without(lines, other []string) (rest []string) {
	known := make(map[string]bool, len(other))
	for _, line := range other {
		known[line] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return known[line] })
}
