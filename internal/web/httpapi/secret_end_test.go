package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// A leaked client secret is worth nothing once it is revoked: the tokens that were issued for
// it are refused, and those of the client's other secret go on.
func TestRevokedSecretEndsItsTokens(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	leaked := s.token(t)
	second := must(s.Access.AddSecret(t.Context(), s.client.ID, "", access.Operator, uuid.Nil))(t)
	kept := must(s.Access.IssueToken(t.Context(), s.client.ID.String(), second.Text, nil))(t).Text.Reveal()
	onboards := func(token string) int {
		return s.do(t, onboardRequest(token, "a-"+uuid.NewString()+"@harmattan.example", randomPhone(), "")).Code
	}
	if got := onboards(leaked); got != http.StatusOK {
		t.Fatalf("before, the token is answered with %d", got)
	}
	secrets := must(s.Access.Secrets(t.Context(), s.client.ID))(t)
	if err := s.Access.RevokeSecret(t.Context(), s.client.ID, secrets[0].ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if got := onboards(leaked); got != http.StatusUnauthorized {
		t.Errorf("a token of the revoked secret is answered with %d, want 401", got)
	}
	if got := onboards(kept); got != http.StatusOK {
		t.Errorf("a token of the other secret is answered with %d, want 200", got)
	}
}
