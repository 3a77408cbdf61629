package pg_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A login of the service that may create temporary tables does not act as the owner by them:
// no function with the rights of the owner takes such a table for the one that it means, and
// so calls a trigger of somebody else.
func TestTemporaryTablesGiveNoRightsOfTheOwner(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	if _, err := pool.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO lineproof_serve', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	thief := pgtest.Stolen(t, pool)
	err := pgx.BeginFunc(t.Context(), thief, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`CREATE TEMPORARY TABLE access_channel (name text)`, `CREATE TEMPORARY TABLE log_pending (kind smallint, body bytea)`, `CREATE TEMPORARY TABLE log_head (size bigint)`,
			`CREATE TEMPORARY TABLE log_source (kind smallint, key text, body bytea)`, `INSERT INTO pg_temp.log_head VALUES (1)`,
			`INSERT INTO pg_temp.log_source SELECT 3, 'policy ' || i, 'forged' FROM generate_series(1, 99) i`,
			`CREATE FUNCTION pg_temp.act() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
				RAISE EXCEPTION 'it acts as %', current_user USING ERRCODE = 'LPOWN';
			END $f$`,
			`CREATE TRIGGER act BEFORE INSERT ON pg_temp.log_pending FOR EACH ROW EXECUTE FUNCTION pg_temp.act()`,
			`GRANT ALL ON pg_temp.access_channel, pg_temp.log_pending, pg_temp.log_head, pg_temp.log_source TO PUBLIC`,
			`INSERT INTO public.policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', p.version + 1, 'id', gen_random_uuid(), 'effective_at', now() + interval '9 years'))).* FROM public.policy p ORDER BY version DESC LIMIT 1`,
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("a trigger of the thief was called: %v", err)
	}
	var unsafe []string
	err = pool.QueryRow(t.Context(), `SELECT coalesce(array_agg(p.oid::regprocedure::text ORDER BY 1), '{}') FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
		AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c ~ '^search_path=.*, *pg_temp$')`).Scan(&unsafe)
	if err != nil || len(unsafe) > 0 {
		t.Errorf("these functions look for tables in pg_temp first: %q, %v", unsafe, err)
	}
}
