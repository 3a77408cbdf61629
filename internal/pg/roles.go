package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The roles. None of them can log in: a login is made by whoever runs the
// database and is granted one of them.
const (
	Owner = "lineproof_owner" // owns every object and migrates
	Serve = "lineproof_serve" // serves: no DDL, and only SELECT and INSERT on journal and audit
	Read  = "lineproof_read"  // only reads
)

// ensureRoles makes the roles that are missing and lets the owner create tables
// in the schema. The login needs CREATEROLE for the first run only; later, being
// a member of the owner is enough.
func ensureRoles(ctx context.Context, url string) error {
	pool, err := Open(ctx, url, Options{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	// Roles belong to the whole cluster, so two databases may be migrated at the
	// same moment: whoever comes second finds the role made.
	for _, role := range []string{Owner, Serve, Read} {
		sql := fmt.Sprintf(`DO $$ BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN
				CREATE ROLE %[1]s NOLOGIN;
			END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
		END $$`, role)
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("pg: make the role %s (the login needs CREATEROLE for this): %w", role, err)
		}
	}
	for _, sql := range []string{
		// From 16 on, whoever makes a role is a member that may not take it.
		`DO $$ DECLARE may boolean; BEGIN
			IF current_setting('server_version_num')::int >= 160000 THEN
				may := pg_has_role(current_user, 'lineproof_owner', 'SET');
			ELSE
				may := pg_has_role(current_user, 'lineproof_owner', 'MEMBER');
			END IF;
			IF NOT may THEN
				EXECUTE format('GRANT lineproof_owner TO %I', current_user);
			END IF;
		EXCEPTION WHEN unique_violation OR internal_error THEN NULL; -- granted by another at this moment
		END $$`,
		`DO $$ BEGIN
			PERFORM pg_advisory_xact_lock(hashtextextended('lineproof schema', 0)); -- two grants at once fail
			IF NOT has_schema_privilege('lineproof_owner', 'public', 'CREATE') THEN
				GRANT USAGE, CREATE ON SCHEMA public TO lineproof_owner;
			END IF;
		END $$`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("pg: let %s own the schema: %w", Owner, err)
		}
	}
	return nil
}

// SessionRole returns the login, the role in force, and whether that role could
// do more than a serving role should.
func SessionRole(ctx context.Context, pool *pgxpool.Pool) (login, role string, tooMuch bool, err error) {
	err = pool.QueryRow(ctx, `SELECT session_user::text, current_user::text,
		(SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user)
		OR has_schema_privilege(current_user, 'public', 'CREATE')`).Scan(&login, &role, &tooMuch)
	if err != nil {
		return "", "", false, fmt.Errorf("pg: read the session's role: %w", err)
	}
	return login, role, tooMuch, nil
}
