package access_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A client is found with the number of its active secrets, also when it is
// revoked; an unknown id and the zero id find none.
func TestOneClientIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []uuid.UUID
	for _, name := range []string{"Harmattan Telecom", "Savanna Mobile"} {
		c, err := w.CreateClient(t.Context(), access.ClientForm{Name: name, Scopes: []string{"document:upload"}}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	if _, err := w.AddSecret(t.Context(), ids[0], "", access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if err := w.RevokeClient(t.Context(), ids[1], access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	first, err := w.Client(t.Context(), ids[0])
	if err != nil || first.Name != "Harmattan Telecom" || first.Secrets != access.MaxSecrets || first.Revoked {
		t.Errorf("Client = %+v, %v", first, err)
	}
	second, err := w.Client(t.Context(), ids[1])
	if err != nil || second.Name != "Savanna Mobile" || second.Secrets != 1 || !second.Revoked {
		t.Errorf("Client = %+v, %v", second, err)
	}
	for _, id := range []uuid.UUID{uuid.Nil, uuid.New()} {
		if c, err := w.Client(t.Context(), id); !errors.Is(err, access.ErrNoClient) {
			t.Errorf("Client(%s) = %+v, %v", id, c, err)
		}
	}
}

// No client gets both line:supply and line:port: with both, an operator could
// move a number of another network to its own. The violation says what to do.
func TestSupplyAndPortNeverOnOneClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	form := access.ClientForm{Name: "MTN", Network: "MTN", Scopes: []string{"line:supply", "document:upload", "line:port"}}
	_, err := w.CreateClient(t.Context(), form, access.Operator, uuid.Nil)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Violations) != 1 || f.Violations[0].Field != "scope" || !strings.Contains(f.Violations[0].Message, "Create two clients") {
		t.Fatalf("CreateClient = %v, want one violation of scope", err)
	}
	if list, err := w.Clients(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("clients %+v, %v", list, err)
	}
	for _, one := range []string{"line:supply", "line:port"} {
		form.Scopes = []string{one, "line:flag"}
		if _, err := w.CreateClient(t.Context(), form, access.Operator, uuid.Nil); err != nil {
			t.Errorf("%s alone: %v", one, err)
		}
	}
}

// A client that has both scopes in the database, however they came there, can use
// neither: not with a token that it already has, not with a new one, and not
// through the people whose network it names. Its other scopes work.
func TestClientWithSupplyAndPortCanUseNeither(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.CreateClient(t.Context(), access.ClientForm{Name: "MTN", Network: "MTN", Scopes: []string{"line:supply", "document:upload"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(scopes ...string) access.Principal {
		t.Helper()
		token, err := w.IssueToken(t.Context(), c.ID.String(), c.Secret, scopes)
		if err != nil {
			t.Fatal(err)
		}
		who, err := w.Authenticate(t.Context(), token.Text.Reveal(), here)
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	before, err := w.IssueToken(t.Context(), c.ID.String(), c.Secret, []string{"line:supply"})
	if err != nil {
		t.Fatal(err)
	}
	if who := issue(); !who.HasScope(access.LineSupply) || !who.HasScope(access.DocumentUpload) {
		t.Fatalf("before, a token has %v", who.Scopes)
	}
	if _, err := w.Pool.Exec(t.Context(), `UPDATE client SET scopes = scopes || '{line:port}' WHERE id = $1`, c.ID); err != nil {
		t.Fatal(err)
	}
	if who := issue(); len(who.Scopes) != 1 || !who.HasScope(access.DocumentUpload) {
		t.Errorf("a new token has %v", who.Scopes)
	}
	for _, one := range []string{"line:supply", "line:port"} {
		if _, err := w.IssueToken(t.Context(), c.ID.String(), c.Secret, []string{one}); !errors.Is(err, access.ErrBadScope) {
			t.Errorf("a token for %s: %v", one, err)
		}
	}
	if who, err := w.Authenticate(t.Context(), before.Text.Reveal(), here); err != nil || len(who.Scopes) != 0 {
		t.Errorf("the token from before has %v, %v", who.Scopes, err)
	}
	if network, err := w.NetworkOf(t.Context(), c.ID); err != nil || network != "" {
		t.Errorf("its people may report for %q, %v", network, err)
	}
}
