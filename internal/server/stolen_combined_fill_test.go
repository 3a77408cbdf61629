package server_test

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// fillTables stores a row in every table that the login may write and that has none, so that
// each column has something to be changed.
func (w *thiefWorld) fillTables() {
	w.Helper()
	for _, sql := range []string{
		`INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
			VALUES (gen_random_uuid(), 'entity.restore', {closed}, {closed}, '{}', 'A mistake', 'waiting', 'account', {ada}, now(), now() + interval '7 days')`,
		`INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
			VALUES (gen_random_uuid(), 'staff.remove', {bola}, NULL, '{}', 'Left', 'waiting', 'account', {ada}, now(), now() + interval '7 days')`,
		`INSERT INTO break_glass (approval_id, reason, at) SELECT id, 'Nobody is here', now() FROM approval WHERE kind = 'staff.remove'`,
		`INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at, ended_at)
			VALUES (gen_random_uuid(), {harbour}, 'Delta Bank', '{}', now() + interval '1 day', 'Letter 7', now(), now())`,
	} {
		w.sql(w.fill(sql)) // signed, as by the service
	}
	for _, table := range w.tables() {
		var some bool
		w.must(w.owner.QueryRow(w.Context(), `SELECT EXISTS (SELECT FROM `+table+`)`).Scan(&some))
		if some {
			continue
		}
		var columns, values []string
		for i := range w.fields {
			if c := &w.fields[i]; c.table == table && (!c.nullable || thiefPlain[c.String()] != "") {
				columns, values = append(columns, c.name), append(values, w.plain(c))
			}
		}
		err := pgx.BeginFunc(w.Context(), w.owner, func(tx pgx.Tx) error {
			if _, err := tx.Exec(w.Context(), `SET LOCAL session_replication_role = replica`); err != nil {
				return err
			}
			insert := fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, table, strings.Join(columns, ", "), strings.Join(values, ", "))
			_, err := tx.Exec(w.Context(), insert)
			return err
		})
		if err != nil {
			w.Errorf("%s has no row: %v", table, err)
		}
	}
	w.noise = w.found()
}
