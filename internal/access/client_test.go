package access_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
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
	if _, err := w.AddSecret(t.Context(), ids[0], access.Operator, uuid.Nil); err != nil {
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
