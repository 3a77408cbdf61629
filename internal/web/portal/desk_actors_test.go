package portal_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// Every staff page that says who did something shows the name, and for people of
// an organisation also the organisation, so that nobody has to look up an id.
func TestStaffSeeNamesOfActors(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, reviewer, auditor := s.as(t, "member"), s.as(t, "reviewer"), s.as(t, "auditor")
	must(s.pool.Exec(t.Context(), `UPDATE account SET name = 'Ngozi Eze' WHERE id = $1`, reviewer.id))(t)
	var client uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM client WHERE name = 'MTN'`).Scan(&client); err != nil {
		t.Fatal(err)
	}
	id, programs := s.uploaded(t, member, "certificate.pdf", "CAC_CERTIFICATE"), uuid.NewString()
	s.moved(t, id, "", "received", "scanning", "clean", "rejected")
	must(s.pool.Exec(t.Context(), `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at)
		SELECT $2, entity_id, type, label, file_name, media_type, size, sha256, 'received', 'client', $3, now() FROM document WHERE id = $1`, id, programs, client))(t)
	must(s.pool.Exec(t.Context(), `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, actor_id, reason, note) VALUES
		($1, 4, now(), 'rejected', 'deleted', 'account', $2, '', ''), ($3, 1, now(), 'received', 'scanning', 'operator', NULL, '', '')`, id, reviewer.id, programs))(t)
	s.found(t, s.bank, "density", "stopped", nil)
	must(s.pool.Exec(t.Context(), `UPDATE guard_alert SET released_at = now(), released_by = $1, reason = 'asked'`, reviewer.id))(t)
	s.written(t, audit.Entry{Actor: actorOf(member), Action: audit.KeyCreated, Subject: member.id, Entity: s.bank.ID})

	for path, texts := range map[string][]string{
		"/portal/desk/documents/" + id:       {"Zainab Sule of Harbour Bank", "Ngozi Eze", "The service"},
		"/portal/desk/documents/" + programs: {"MTN (client)", "Service operator"},
		"/portal/desk/audit?action=key.":     {"Zainab Sule of Harbour Bank"},
		"/portal/desk/limits?show=past":      {"by Ngozi Eze"},
		deskPage(s.bank, "/audit"):           {"Zainab Sule of Harbour Bank"},
	} {
		res := s.get(t, path, auditor.session)
		wantPage(t, res, http.StatusOK, texts...)
		for _, nameless := range []string{"Account " + member.id.String(), "Client " + client.String(), ">" + reviewer.id.String() + "<"} {
			if strings.Contains(res.Body.String(), nameless) {
				t.Errorf("%s says %s", path, nameless)
			}
		}
	}
	rows := must(csv.NewReader(s.get(t, "/portal/export/audit.csv?action=key.", auditor.session).Body).ReadAll())(t)
	if len(rows) != 2 || !slices.Contains(rows[1], "Zainab Sule of Harbour Bank") {
		t.Errorf("the export has %q", rows)
	}
}

// An actor that no longer exists is shown by its id.
func TestDeletedActorsAreShownById(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	gone := uuid.New()
	s.written(t,
		audit.Entry{Actor: audit.Actor{Kind: audit.Account, ID: gone}, Action: audit.KeyCreated, Subject: uuid.New()},
		audit.Entry{Actor: audit.Actor{Kind: audit.Client, ID: gone}, Action: audit.KeyCreated, Subject: uuid.New()},
	)
	wantPage(t, s.get(t, "/portal/desk/audit?action=key.", s.as(t, "auditor").session), http.StatusOK, "A deleted account, "+gone.String(), "A deleted client, "+gone.String())
}
