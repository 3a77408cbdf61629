package server_test

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// thiefZero is an id that a service might take for none.
const thiefZero = "'00000000-0000-0000-0000-000000000000'"

// zeroIDs are attempts to make a row pass for none: its id is zero. The thief puts their own
// credential into it, and removes it before anybody looks.
func (w *thiefWorld) zeroIDs() (attempts []thiefAttempt) {
	w.Helper()
	add := func(name string, after []thiefStep, before ...string) {
		a := thiefAttempt{family: "zero id", name: name, after: after}
		for _, sql := range before {
			a.before = append(a.before, thiefStep{sql: w.fill(sql)})
		}
		attempts = append(attempts, a)
	}
	gone := func(sql string) []thiefStep { return []thiefStep{{sql: w.fill(sql)}} }
	copied := func(table, changes string) string { return w.copyRow(table, changes) }
	for _, victim := range []string{"ada", "delta admin", "admin"} {
		for _, medium := range []string{"session", "cookie"} {
			add("a "+medium+" of "+victim, gone(`DELETE FROM session WHERE id = ZERO`),
				copied("session", `id = ZERO; account_id = {`+victim+`}; mac = '\x01'; proved_at = now()`)+` WHERE id = {member session}`,
				`DELETE FROM session WHERE account_id = {member} AND id <> ZERO`,
				`UPDATE session SET mac = '`+w.macOf(w.texts["member "+medium])+`' WHERE id = ZERO`)
		}
	}
	for _, key := range []string{"old key", "stale key", "bound key", "closed key", "bare key"} {
		mac := w.macOf(w.texts[key])
		add("the "+key, gone(`UPDATE api_key SET mac = '\x02' WHERE id = ZERO`),
			`UPDATE api_key SET mac = '\x03' WHERE id = {`+key+`}`,
			copied("api_key", `id = ZERO; mac = '`+mac+`'; revoked_at = NULL; expires_at = NULL; networks = '{}'; rights = '{watch,feed,jobs}'; entity_id = {delta}`)+` WHERE id = {`+key+`}`)
	}
	add("limits of nobody", nil, copied("entity_limit", `entity_id = ZERO; day_quota = 0`)+` WHERE entity_id = {spent}`)
	add("an access token", gone(`DELETE FROM access_token WHERE id = ZERO`),
		`DELETE FROM access_token WHERE mac = '`+w.macOf(w.texts["telco token"])+`'`,
		copied("access_token", `id = ZERO; mac = '`+w.macOf(w.texts["telco token"])+`'; scopes = '{line:supply,line:order}'; client_id = {feeder}`)+
			` WHERE mac = '`+w.macOf(w.texts["feeder token"])+`'`)
	add("a client", nil, copied("client", `id = ZERO; scopes = '{line:supply,line:order}'`)+` WHERE id = {feeder}`,
		`UPDATE access_token SET client_id = ZERO WHERE mac = '`+w.macOf(w.texts["telco token"])+`'`)
	add("a client's secret", nil, copied("client_secret", `id = ZERO; client_id = {feeder}; mac = '\x04'`)+` WHERE id = {old secret}`,
		`UPDATE client_secret SET mac = '\x05' WHERE id = {old secret}`,
		`UPDATE client_secret SET mac = '`+w.macOf(w.texts["old secret"])+`', client_id = {telco}, revoked_at = NULL WHERE id = ZERO`)
	add("a link", gone(`DELETE FROM account_link WHERE id = ZERO`),
		copied("account_link", `id = ZERO; used_at = NULL; mac = '\x06'`)+` WHERE used_at IS NOT NULL`,
		`DELETE FROM account_link WHERE id <> ZERO`,
		`UPDATE account_link SET mac = '`+w.linkMAC(w.texts["used link"])+`', expires_at = now() + interval '1 hour', account_id = {admin} WHERE id = ZERO`)
	for _, who := range []string{"leaver", "closed admin", "member"} {
		add("the account of "+who, nil,
			`UPDATE account SET email_key = 'gone' WHERE id = {`+who+`}`,
			copied("account", `id = ZERO; disabled_at = NULL; email_key = '`+w.texts[who+" email"]+`'; kind = 'staff'; role = 'administrator'; entity_id = NULL; phone = NULL`)+` WHERE id = {`+who+`}`,
			`UPDATE session SET account_id = ZERO WHERE account_id = {`+who+`}`)
	}
	add("an organisation", nil, copied("entity", `id = ZERO; status = 'Approved'`)+` WHERE id = {closed}`,
		`UPDATE api_key SET entity_id = ZERO WHERE id = {closed key}`, `UPDATE account SET entity_id = ZERO WHERE id = {closed admin}`)
	add("an approval", nil, `INSERT INTO approval (id, kind, subject_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
		VALUES (ZERO, 'entity.restore', {closed}, '{}', 'x', 'waiting', 'account', {ada}, now(), now() + interval '1 day')`)
	add("a mandate", nil, `INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at)
		VALUES (ZERO, {harbour}, 'Delta', '{}', now() + interval '1 day', 'x', now())`)
	add("whose access somebody gave", nil, `INSERT INTO access_given (id, subject_id, by_id, how, before_staff, at)
		VALUES (ZERO, {bola}, ZERO, 'cosigned', false, now())`)
	return attempts
}

// fill writes ids for their names in braces.
func (w *thiefWorld) fill(sql string) string {
	for name, id := range w.ids {
		sql = strings.ReplaceAll(sql, "{"+name+"}", "'"+id.String()+"'")
	}
	return strings.ReplaceAll(sql, "ZERO", thiefZero)
}

// copyRow returns a statement that stores a copy of a row with changes, separated by
// semicolons. What signs rows is copied, too.
func (w *thiefWorld) copyRow(table, changes string) string {
	w.Helper()
	to := map[string]string{}
	for change := range strings.SplitSeq(changes, ";") {
		column, value, _ := strings.Cut(change, "=")
		to[strings.TrimSpace(column)] = strings.TrimSpace(value)
	}
	var columns, values []string
	rows, err := w.owner.Query(w.Context(), `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''`, table)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var name string
		w.must(rows.Scan(&name))
		columns = append(columns, name)
		if v, ok := to[name]; ok {
			name = v
		}
		values = append(values, name)
	}
	w.must(rows.Err())
	return fmt.Sprintf(`INSERT INTO %[1]s (%[2]s) SELECT %[3]s FROM %[1]s`, table, strings.Join(columns, ", "), strings.Join(values, ", "))
}

// macOf returns the stored HMAC of a credential, which the thief finds by its preview or
// its last use.
func (w *thiefWorld) macOf(text string) string {
	return fmt.Sprintf(`\x%x`, w.peppers.Sign(secret.ForCredentials, text))
}

func (w *thiefWorld) linkMAC(text string) string {
	return fmt.Sprintf(`\x%x`, w.peppers.Sign(secret.ForLinks, text))
}

// thiefEnd is how something ends that gave access, and the request that shows it.
type thiefEnd struct {
	name, table string
	end         func()
	probe       thiefProbe
}

// replays are attempts to write an old row back, with the HMAC that it had.
func (w *thiefWorld) replays() (attempts []thiefAttempt) {
	w.Helper()
	for _, e := range w.ends() {
		attempts = append(attempts, thiefAttempt{
			family: "old row", name: e.name,
			before: []thiefStep{{do: func(w *thiefWorld) string { return w.replay(&e) }}},
		})
	}
	return attempts
}

// replay lets something end, and writes the row back that it had before.
func (w *thiefWorld) replay(e *thiefEnd) string {
	w.Helper()
	if status, body := w.send(&e.probe); status != 200 {
		w.Fatalf("%s: %d %s before it ended", e.name, status, body)
	}
	back, old := w.putBack(e.table), w.snapshot(e.table)
	e.end()
	w.settle()
	if status, body := w.send(&e.probe); status == 200 {
		w.Fatalf("%s: %s although it ended", e.name, body)
	}
	w.replayColumns(e, old)
	_, err := w.login.Exec(w.Context(), back.sql, back.args...)
	w.must(err)
	w.settle()
	if status, _ := w.send(&e.probe); status == 200 {
		return e.name + " gives access again"
	}
	return ""
}

// replayColumns writes each column back alone that has changed, with the HMAC of the old row
// and with the present one. A row that never was is not accepted, or found.
func (w *thiefWorld) replayColumns(e *thiefEnd, old string) {
	w.Helper()
	var changed []string
	w.must(w.owner.QueryRow(w.Context(), fmt.Sprintf(`SELECT coalesce(array_agg(DISTINCT n.key), '{}') FROM %[1]s t
		JOIN jsonb_array_elements($1::jsonb) o ON o->>'%[2]s' = t.%[2]s::text, jsonb_each(to_jsonb(t)) n
		WHERE n.value <> o->n.key AND n.key NOT IN ('row_sum', 'row_mac')`, e.table, pg.RowID(e.table)), old).Scan(&changed))
	if len(changed) < 2 {
		return // the row is an old one again
	}
	now := w.putBack(e.table)
	for _, column := range changed {
		for _, with := range []string{"row_mac = o.row_mac", "row_mac = t.row_mac"} {
			_, err := w.login.Exec(w.Context(), fmt.Sprintf(`UPDATE %[1]s t SET %[2]s = o.%[2]s, %[3]s FROM jsonb_populate_recordset(NULL::%[1]s, $1::jsonb) o
				WHERE t.%[4]s = o.%[4]s`, e.table, column, with, pg.RowID(e.table)), old)
			w.settle()
			if status, _ := w.send(&e.probe); err == nil && status == 200 && len(w.newlyFound()) == 0 {
				w.Errorf("%s gives access again by its old %s alone, with %s", e.name, column, with)
			}
			_, err = w.login.Exec(w.Context(), now.sql, now.args...)
			w.must(err)
		}
	}
}

func (w *thiefWorld) ends() []thiefEnd {
	ctx, operator := w.Context(), access.Operator
	keys := func(session string) thiefProbe {
		return thiefProbe{method: "GET", path: thiefStaff + "/keys", bearer: w.texts[session]}
	}
	verify := func(key string) thiefProbe {
		return thiefProbe{method: "POST", path: thiefVerify, bearer: w.texts[key], body: `{"phoneNumber":"+2348031000000"}`}
	}
	logIn := func(name string) thiefProbe {
		return thiefProbe{
			method: "POST", path: thiefStaff + "/login", body: fmt.Sprintf(`{"email":%q,"password":%q}`, w.texts[name+" email"], thiefPassword),
		}
	}
	token := func(client string) thiefProbe {
		return thiefProbe{
			method: "POST", path: "/api/auth/token",
			body: fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, w.ids[client], w.texts[client+" secret"]),
		}
	}
	return []thiefEnd{
		{"a session that was ended", "session", func() {
			var id uuid.UUID
			w.must(w.owner.QueryRow(ctx, `SELECT id FROM session WHERE mac = $1`, w.peppers.Sign(secret.ForCredentials, w.texts["member session"])).Scan(&id))
			w.must(w.access.EndSession(ctx, w.ids["member"], id, operator, uuid.Nil))
		}, keys("member session")},
		{"a revoked key", "api_key", func() { w.must(w.access.RevokeKey(ctx, uuid.Nil, w.ids["key"], operator, uuid.Nil)) }, verify("key")},
		{"a key with new limits of its networks", "api_key", func() {
			w.sql(`UPDATE api_key SET networks = '{203.0.113.0/24}' WHERE id = $1`, w.ids["key"])
		}, verify("key")},
		{"a suspended organisation", "entity", func() {
			value(w.reg.Suspend(ctx, w.ids["harbour"], "closed", operator, uuid.Nil))(w)
		}, verify("key")},
		{"a removed person", "account", func() {
			a := value(w.reg.Account(ctx, w.owner, w.ids["member"]))(w)
			w.must(w.people.DisableAccount(ctx, a, "left", operator, uuid.Nil))
		}, logIn("member")},
		{"an old password", "account", func() {
			hash := value(w.reg.HashPassword(ctx, w.ids["member"], "password", "another-river-7"))(w)
			w.tx(func(tx pg.Tx) error { return w.reg.SetPassword(ctx, tx, w.ids["member"], hash) })
		}, logIn("member")},
		{"a suspended client", "client", func() { w.must(w.access.SuspendClient(ctx, w.ids["telco"], operator, uuid.Nil)) }, token("telco")},
		{"a revoked client", "client", func() { w.must(w.access.RevokeClient(ctx, w.ids["feeder"], operator, uuid.Nil)) }, token("feeder")},
	}
}
