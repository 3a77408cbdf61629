package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A number is sealed with a number from a file, and the seal lifted, once somebody else has
// confirmed it. No message, list or row of the audit trail has the number.
func TestSealCommands(t *testing.T) {
	t.Parallel()
	url, dir := pgtest.URL(t), t.TempDir()
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + filepath.Join(dir, "data"), "LINEPROOF_PEPPERS=" + pgtest.Pepper}}
	super := pgtest.Open(t, url, "")
	var people []audit.Actor
	for range 2 {
		person := audit.Actor{Kind: audit.Account, ID: uuid.New()}
		_, err := super.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', 'administrator', 'S', $2, $2, now())`, person.ID, person.ID.String())
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, person)
	}
	confirm := func(kind approval.Kind) {
		t.Helper()
		service := &approval.Service{Pool: super, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: outbox.SealEffects(), Now: time.Now}
		list, err := service.List(t.Context(), false, 10)
		if err != nil || len(list) != 1 || list[0].Kind != kind {
			t.Fatalf("waiting: %+v, %v", list, err)
		}
		if _, err := service.Confirm(t.Context(), list[0].ID, people[0], uuid.Nil); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "number.txt")
	if err := os.WriteFile(file, []byte("0803 123 4567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	request := func(until, reason string) []string {
		return []string{"lines", "seal", "request", "--number-file", file, "--until", until, "--reason", reason}
	}
	end := time.Now().AddDate(0, 1, 0).UTC().Format(time.DateOnly)
	if _, note := m.run(0, nil, "lines", "seal", "list"); !strings.Contains(note, "No number is sealed.") {
		t.Errorf("the empty list says: %s", note)
	}
	m.run(5, nil, request("2020-01-01", "Order of the court, case 12")...)
	m.run(5, nil, request(time.Now().AddDate(2, 0, 0).Format(time.DateOnly), "Order of the court, case 12")...)
	m.run(5, nil, request(end, "Order about 08031234567")...)
	out, stderr := m.run(7, nil, request(end, "Order of the court, case 12")...)
	if !strings.Contains(stderr, "lineproof approval confirm") || strings.Contains(out+stderr, "1234567") {
		t.Errorf("request printed %s%s", out, stderr)
	}
	if list := m.list(nil, "lines", "seal", "list"); len(list) != 1 || list[0]["state"] != "waits for a second person" {
		t.Errorf("listed %v", list)
	}
	confirm(outbox.StartSealKind)
	list := m.list(nil, "lines", "seal", "list")
	if len(list) != 1 || list[0]["state"] != "active" || list[0]["lastDigits"] != "67" {
		t.Fatalf("listed %v", list)
	}
	id, _ := list[0]["sealId"].(string)
	m.run(5, nil, "lines", "seal", "lift", uuid.NewString(), "--reason", "The court has lifted its order")
	m.run(7, nil, "lines", "seal", "lift", id, "--reason", "The court has lifted its order")
	confirm(outbox.LiftSealKind)
	m.run(5, nil, "lines", "seal", "lift", id, "--reason", "Once more")
	var started, lifted, named int
	err := super.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE action = 'seal.started'), count(*) FILTER (WHERE action = 'seal.lifted'), count(*) FILTER (WHERE a::text LIKE '%1234567%') FROM audit a`).Scan(&started, &lifted, &named)
	if err != nil || started != 1 || lifted != 1 || named != 0 {
		t.Errorf("the audit trail has %d seals, %d lifted, and the number %d times; %v", started, lifted, named, err)
	}
}
