package server_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// While there is nobody who could be a second person, the operator acts alone, also
// without a reason, and the trail shows it.
func TestOperatorActsAloneBeforeThereIsASecondPerson(t *testing.T) {
	t.Parallel()
	for _, kind := range []approval.Kind{"client.scopes", "client.secret", "guard.release", "entity.limits", "plan.set", "policy.set", "staff.reset_factor", "staff.reset_password", "entity.people"} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c, w := actionCases[kind], newService(t)
			if c.prepare != nil {
				c.prepare(w)
			}
			w.member = w.account("administrator") // one is not enough
			if id, err := pendingOf(c.request(w, access.Operator)); err != nil || id != uuid.Nil || !c.done(w) {
				t.Errorf("%v, %v", id, err)
			}
			if list := value(audit.List(t.Context(), w.pool, audit.Filter{Kind: audit.Operator, Since: w.since}))(t); len(list) == 0 {
				t.Error("the trail does not show it")
			}
		})
	}
}

// What waits is carried out as it was requested, or not at all: a change that somebody
// else made in the meantime is not overwritten.
func TestWhatWaitsIsCarriedOutAsRequested(t *testing.T) {
	t.Parallel()
	for kind, overtake := range map[approval.Kind]func(w *twoPeople, first uuid.UUID) error{
		"entity.limits": func(w *twoPeople, _ uuid.UUID) error { // lower limits act at once, by one person
			return w.people.Access.SetLimits(w.Context(), w.entity, access.Limits{DayNumbers: 10}, "", w.bola, uuid.Nil)
		},
		"plan.set":   func(w *twoPeople, first uuid.UUID) error { return w.confirm(approval.Action{}, first, w.bola) },
		"policy.set": func(w *twoPeople, first uuid.UUID) error { return w.confirm(approval.Action{}, first, w.bola) },
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c := actionCases[kind]
			w := newTwoPeople(t, c.prepare)
			first := value(pendingOf(c.request(w, w.ada)))(t)
			second := first
			if kind != "entity.limits" { // of which only one can wait
				<-time.After(2 * time.Millisecond) // two versions never take effect in the same millisecond
				second = value(pendingOf(c.request(w, w.ada)))(t)
			}
			if err := overtake(w, first); err != nil {
				t.Fatal(err)
			}
			<-time.After(2 * time.Millisecond)
			if err := w.confirm(approval.Action{}, second, w.bola); fault.CodeOf(err) != fault.Aborted {
				t.Errorf("confirmed after another change: %v", err)
			}
		})
	}
}

// tokenScopes returns the scopes of a token that the client gets with a secret.
func (w *twoPeople) tokenScopes(client uuid.UUID, text secret.Text) ([]string, error) {
	token, err := w.people.Access.IssueToken(w.Context(), client.String(), text, nil)
	return token.Scopes, err
}

// A client that waits for a scope gets tokens without it. A secret that waits gets none,
// and one that somebody added while the scopes waited is revoked.
func TestClientGetsWhatTwoPeopleAgreedOn(t *testing.T) {
	t.Parallel()
	w := newTwoPeople(t, nil)
	form := access.ClientForm{Name: "MTN", Scopes: []string{"entity:onboard", "line:supply"}, Network: "MTN"}
	if _, err := w.people.Access.CreateClient(t.Context(), form, w.ada, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("without a reason: %v", err)
	}
	form.Reason = reason
	c := value(w.people.Access.CreateClient(t.Context(), form, w.ada, uuid.Nil))(t)
	if scopes := value(w.tokenScopes(c.ID, c.Secret))(t); !slices.Equal(scopes, []string{"entity:onboard"}) {
		t.Errorf("before: %v", scopes)
	}
	meanwhile := value(w.people.Access.AddSecret(t.Context(), c.ID, "", w.bola, uuid.Nil))(t)
	if err := w.confirm(approval.Action{}, c.Pending, w.bola); err != nil {
		t.Fatal(err)
	}
	if scopes := value(w.tokenScopes(c.ID, c.Secret))(t); !slices.Equal(scopes, form.Scopes) {
		t.Errorf("after: %v", scopes)
	}
	if _, err := w.tokenScopes(c.ID, meanwhile.Text); !errors.Is(err, access.ErrBadClient) {
		t.Errorf("with a secret that was added meanwhile: %v", err)
	}
	second := value(w.people.Access.AddSecret(t.Context(), c.ID, reason, w.ada, uuid.Nil))(t)
	if _, err := w.tokenScopes(c.ID, second.Text); !errors.Is(err, access.ErrBadClient) {
		t.Errorf("with a secret that waits: %v", err)
	}
	if err := w.confirm(approval.Action{}, second.Pending, w.bola); err != nil {
		t.Fatal(err)
	}
	if scopes := value(w.tokenScopes(c.ID, second.Text))(t); !slices.Equal(scopes, form.Scopes) {
		t.Errorf("with the second secret: %v", scopes)
	}
	harmless := value(w.people.Access.CreateClient(t.Context(), access.ClientForm{Name: "Other", Scopes: []string{"document:upload"}}, w.ada, uuid.Nil))(t)
	if harmless.Pending != uuid.Nil {
		t.Error("a client that changes no lines waits")
	}
}

// The operator never gets a link for the password of a member of staff, and lowers
// limits and removes a reviewer alone.
func TestWhatOnePersonMayDoActsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTwoPeople(t, nil)
	member := value(w.people.Registry.Account(t.Context(), w.pool, w.member))(t)
	link, _, err := w.people.StartReset(t.Context(), member, true, reason, access.Operator, uuid.Nil)
	if fault.CodeOf(err) != fault.IncompatibleState || link != "" || w.holds(`EXISTS (SELECT FROM account_link)`) {
		t.Errorf("a link by hand: %v", err)
	}
	if err := w.people.Access.SetLimits(t.Context(), w.entity, access.Limits{DayNumbers: 10}, "", access.Operator, uuid.Nil); err != nil {
		t.Errorf("a lower limit: %v", err)
	}
	if err := w.people.DisableAccount(t.Context(), member, "", access.Operator, uuid.Nil); err != nil {
		t.Errorf("removing a reviewer: %v", err)
	}
}
