package portal_test

import (
	"net/http"
	"testing"
)

// The team page and the question of a role change say what only admins can do, as the
// rights of the pages have it.
func TestTeamPagesSayWhatOnlyAdminsCanDo(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, other, member := s.as(t, "admin"), s.as(t, "admin"), s.as(t, "member")
	for _, path := range []string{"/portal/team", "/portal/new-webhook"} {
		wantPage(t, s.get(t, path, member.session), http.StatusNotFound)
	}
	wantPage(t, s.post(t, "/portal/files", member.session, nil), http.StatusNotFound)
	page := s.get(t, "/portal/team", admin.session)
	wantPage(t, page, http.StatusOK, "Only admins can manage the team, change webhooks, send or cancel files of numbers, and change an operator&#39;s API client.", "members to whom an admin has given that right")
	wantNone(t, page.Body.String(), "everything else")
	wantPage(t, s.get(t, "/portal/team/"+other.id.String()+"/role", admin.session), http.StatusOK,
		"can no longer manage the team, change webhooks, send or cancel files of numbers, or change an operator&#39;s API client")
}
