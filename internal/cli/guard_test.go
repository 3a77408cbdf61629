package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The operator lists organisations that the guard has slowed or stopped, releases
// one with a reason, and finds both in the audit trail. No alert shows a number.
func TestGuardListAndRelease(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	m := machine{t: t, environ: []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}}
	entity, _ := m.run(0, nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC 1")
	entity = strings.TrimSpace(entity)
	pool := pgtest.Open(t, url, "")
	for _, level := range []string{"slowed", "stopped"} {
		_, err := pool.Exec(context.Background(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget)
			VALUES (gen_random_uuid(), $1, 'density', $2, now(), 'one', 12000, 7, 11000, 10000, 0)`, entity, level)
		if err != nil {
			t.Fatal(err)
		}
	}
	list, _ := m.run(0, nil, "guard", "list")
	if !strings.Contains(list, "Harbour Bank  stopped  11000 of 12000 numbers in dense blocks of 10000") || !strings.Contains(list, "Harbour Bank  slowed") {
		t.Errorf("the list is:\n%s", list)
	}
	if _, note := m.run(0, nil, "guard", "release", "--entity", entity, "--reason", "a payroll, checked by phone", "--quiet", "720h"); !strings.Contains(note, "2 alerts ended") {
		t.Errorf("a release reports %s", note)
	}
	if list, _ = m.run(0, nil, "guard", "list"); list != "" {
		t.Errorf("after the release there is:\n%s", list)
	}
	list, _ = m.run(0, nil, "guard", "list", "--all", "--json")
	for _, want := range []string{`"holds": false`, `"reason": "a payroll, checked by phone"`, `"quietUntil": "20`, `"level": "stopped"`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s:\n%s", want, list)
		}
	}
	client, _ := m.run(0, nil, "client", "create", "--name", "Harmattan", "--scope", "entity:onboard", "--json")
	_, client, _ = strings.Cut(client, `"clientId": "`)
	client, _, _ = strings.Cut(client, `"`)
	_, err := pool.Exec(context.Background(), `INSERT INTO guard_alert (id, sponsor_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES (gen_random_uuid(), $1, 'misses', 'stopped', now(), 'one', 12000, 11000, 0, 0, 0)`, client)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ = m.run(0, nil, "guard", "list"); !strings.Contains(list, client+"  all organisations of the client Harmattan  stopped") {
		t.Errorf("the list is:\n%s", list)
	}
	m.run(2, nil, "guard", "release", "--client", client, "--entity", entity, "--reason", "both")
	if _, note := m.run(0, nil, "guard", "release", "--client", client, "--reason", "a new brand, announced"); !strings.Contains(note, "1 alert ended") {
		t.Errorf("a release of a client reports %s", note)
	}
	if trail, _ := m.run(0, nil, "audit", "list", "--json"); !strings.Contains(trail, "guard.released") || !strings.Contains(trail, "checked by phone") {
		t.Errorf("the audit trail is:\n%s", trail)
	}
}
