package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// As the service is assembled, a revoked key pauses the endpoints that were created with it in
// the same transaction, with an entry in the audit trail; and the admins of the organisation
// hear by e-mail of a new live key and of what is paused, and who did it.
func TestRevokedKeyPausesItsEndpointsAndTellsTheAdmins(t *testing.T) {
	t.Parallel()
	w := newService(t)
	admin := uuid.New()
	w.exec(`INSERT INTO account (id, kind, entity_id, name, email, email_key, password_hash, created_at) VALUES ($1, 'admin', $2, 'A', $3, $3, 'none', now())`,
		admin, w.entity, admin.String()+"@bank.example")
	told := func(kind, about string) bool {
		return w.holds(`count(*) = 1 FROM message m JOIN river_job j ON j.args->>'message' = m.id::text AND j.args->>'letter' = m.kind
			WHERE m.account_id = $1 AND m.kind = $2 AND strpos(m.about, $3) > 0 AND m.detail ~ '^by the operator of the service( on .* UTC)?$'`, admin, kind, about)
	}
	keys := w.people.Access
	key := value(keys.CreateKey(t.Context(), access.KeyForm{Entity: w.entity, Name: "feed reader", Mode: access.Live, Rights: []string{"feed"}}, access.Operator, uuid.Nil))(t)
	if !told("credential_added", "the live API key “feed reader” (lp_live_") {
		t.Error("the admin was not told of the new live key")
	}
	client := egress.New(egress.Options{})
	t.Cleanup(client.Close)
	hooks := &webhook.Service{Pool: w.pool, Feed: &feed.Service{Pool: w.pool, Now: time.Now}, Egress: client, Peppers: keys.Peppers, Now: time.Now}
	o := feed.Owner{Entity: w.entity, Mode: access.Live}
	made := value(hooks.Create(t.Context(), o, webhook.NewForm{Name: "core banking", URL: "https://hooks.bank.example/"}, webhook.By{Actor: audit.Actor{Kind: audit.APIKey, ID: key.ID}}))(t)
	w.exec(`UPDATE hook_endpoint SET state = 'active' WHERE id = $1`, made.ID)
	if err := keys.RevokeKey(t.Context(), uuid.Nil, key.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if e := value(hooks.Endpoint(t.Context(), o, made.ID))(t); e.State != webhook.Paused || e.Reason != webhook.ReasonKeyRevoked {
		t.Errorf("the endpoint is %s (%s)", e.State, e.Reason)
	}
	if !told("credential_ended", "the live API key “feed reader” (lp_live_") {
		t.Error("the admin was not told of the revoked key")
	}
	if !told("webhook_paused", "core banking") {
		t.Error("the admin was not told of the paused endpoint")
	}
	if !w.holds(`count(*) = 1 FROM audit WHERE action = 'webhook.paused' AND subject_id = $1 AND entity_id = $2`, made.ID, w.entity) {
		t.Error("the pause is not in the audit trail")
	}
}
