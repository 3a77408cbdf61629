package webhook_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Whoever had a leaked key keeps nothing of it: once the key is revoked, the endpoints that
// were created with it get nothing more, neither by themselves nor on request, and no key
// wakes them. A person who resumes one takes it over.
func TestRevokedKeyPausesTheEndpointsItCreated(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, r, others := e.bank(), newReceiver(t), newReceiver(t)
	keys := &access.Service{Pool: e.pool, Peppers: e.Peppers, Now: time.Now}
	key, err := keys.CreateKey(t.Context(), access.KeyForm{Entity: o.Entity, Name: "leaked", Mode: access.Test, Rights: []string{"feed"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	thief := webhook.By{Actor: audit.Actor{Kind: audit.APIKey, ID: key.ID}}
	stolen, own := e.endpointBy(o, r, thief), e.endpoint(o, others)
	waiting, err := e.Create(t.Context(), o, webhook.NewForm{Name: "later", URL: r.URL}, thief)
	if err != nil {
		t.Fatal(err)
	}
	e.sender(0)
	e.tell(o, 1, 2)
	eventually(t, "the first events", func() bool { return e.now(o, stolen.ID).Seq == 2 && e.now(o, own.ID).Seq == 2 })

	if err := keys.RevokeKey(t.Context(), o.Entity, key.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sender to let go", func() bool {
		var free bool
		err := e.pool.QueryRow(t.Context(), `SELECT leased_until IS NULL FROM hook_cursor WHERE endpoint_id = $1`, stolen.ID).Scan(&free)
		return err == nil && free
	})
	before := r.count()
	e.tell(o, 3, 4)
	eventually(t, "the events of the endpoint that a person created", func() bool { return e.now(o, own.ID).Seq == 4 })
	e.hurry(stolen.ID)
	another := webhook.By{Actor: audit.Actor{Kind: audit.APIKey, ID: uuid.New()}}
	for what, err := range map[string]error{
		"sending again":              second(e.SendAgain(t.Context(), o, stolen.ID, 1, 4)),
		"resuming with a key":        second(e.Resume(t.Context(), o, stolen.ID, another)),
		"resuming with the same key": second(e.Resume(t.Context(), o, stolen.ID, thief)),
	} {
		if fault.CodeOf(err) != fault.IncompatibleState {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := e.now(o, stolen.ID); now.State != webhook.Paused || now.Reason != webhook.ReasonKeyRevoked || now.Seq != 2 || r.count() != before {
		t.Errorf("the endpoint is %s (%s) at %d, and got %d requests more", now.State, now.Reason, now.Seq, r.count()-before)
	}
	if _, err := e.Confirm(t.Context(), o, waiting.ID, another); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("confirming with a key: %v", err)
	}

	if _, err := e.Resume(t.Context(), o, stolen.ID, by); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the events after a person resumed it", func() bool { return e.now(o, stolen.ID).Seq == 4 })
	if diff := cmp.Diff(ids(1, 4), r.got()); diff != "" {
		t.Error(diff)
	}
}

func second[T any](_ T, err error) error { return err }
