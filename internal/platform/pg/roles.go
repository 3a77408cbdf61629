package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// The roles. None of them can log in: the database administrator creates a login
// and grants it one of them.
const (
	Owner = "lineproof_owner" // owns every object and migrates
	Serve = "lineproof_serve" // serves: no DDL, and only SELECT and INSERT on journal and audit
	Read  = "lineproof_read"  // only reads
)

// ensureRoles creates the missing roles and lets the owner create tables in the
// schema. The login needs CREATEROLE for the first run only; after that it need
// only be a member of the owner role.
func ensureRoles(ctx context.Context, url string, unverified bool) error {
	pool, err := Open(ctx, url, Options{Conns: 1, Unverified: unverified})
	if err != nil {
		return err
	}
	defer pool.Close()
	// Roles belong to the whole cluster, and another of its databases may be
	// migrated at the same moment: a role that exists by now is no error.
	for _, role := range []string{Owner, Serve, Read} {
		sql := fmt.Sprintf(`DO $$ BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN
				CREATE ROLE %[1]s NOLOGIN;
			END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
		END $$`, role)
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("pg: create the role %s (the login needs CREATEROLE for this): %w", role, err)
		}
	}
	for _, sql := range []string{
		// Since PostgreSQL 16 the creator of a role is a member without the right to SET ROLE.
		`DO $$ DECLARE allowed boolean; BEGIN
			IF current_setting('server_version_num')::int >= 160000 THEN
				allowed := pg_has_role(current_user, 'lineproof_owner', 'SET');
			ELSE
				allowed := pg_has_role(current_user, 'lineproof_owner', 'MEMBER');
			END IF;
			IF NOT allowed THEN
				EXECUTE format('GRANT lineproof_owner TO %I', current_user);
			END IF;
		EXCEPTION WHEN unique_violation OR internal_error THEN NULL; -- another process granted it at the same moment
		END $$`,
		`DO $$ BEGIN
			PERFORM pg_advisory_xact_lock(hashtextextended('lineproof schema', 0)); -- two grants at once fail
			IF NOT has_schema_privilege('lineproof_owner', 'public', 'CREATE') THEN
				GRANT USAGE, CREATE ON SCHEMA public TO lineproof_owner;
			END IF;
			-- Every login may create temporary tables by default, and fill the disk with them.
			IF has_database_privilege('public', current_database(), 'TEMPORARY')
				AND (SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()) THEN
				EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
			END IF;
		END $$`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("pg: let %s create tables in the schema: %w", Owner, err)
		}
	}
	return nil
}

// SessionRole returns the login, its current role, and whether that role has
// rights that a serving role should not have.
func SessionRole(ctx context.Context, pool *pgxpool.Pool) (login, role string, tooMuch bool, err error) {
	err = pool.QueryRow(ctx, `SELECT session_user::text, current_user::text,
		(SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user)
		OR has_schema_privilege(current_user, 'public', 'CREATE')`).Scan(&login, &role, &tooMuch)
	return login, role, tooMuch, fault.Wrap(err, "pg: read the session's role")
}
