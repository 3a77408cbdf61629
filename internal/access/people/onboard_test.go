package people_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// telcos is a client that onboards entities.
func (w *world) telcos(t *testing.T, name string) access.Principal {
	t.Helper()
	c := must(w.Access.CreateClient(t.Context(), access.ClientForm{Name: name, Scopes: []string{"entity:onboard"}}, operator, uuid.Nil))(t)
	return access.Principal{Kind: access.Client, Client: c.ID, ID: uuid.New()}
}

// apply sends an application, as the API does.
func (w *world) apply(t *testing.T, who access.Principal, email, phone string) error {
	t.Helper()
	onboard, err := w.PrepareOnboarding(t.Context(), registry.ApplicationForm{
		Name: "Delta Telecom", CAC: "RC 66", AdminName: "Ada Obi", AdminEmail: email, AdminPhone: phone, AdminPassword: password,
	}, who, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return pg.InTx(t.Context(), w.pool, func(tx pg.Tx) error {
		_, err := onboard(tx)
		return err
	})
}

// A client learns for 20 applications on a day, on all nodes together and with concurrent
// requests, that an admin has an account. After that none of its applications says
// anything, and the administrators are notified once. The same application counts once.
func TestRefusedOnboardingsCountAgainstABudgetOfTheClient(t *testing.T) {
	t.Parallel()
	const limit = 20
	w := newWorld(t)
	w.Clashes = limit
	w.mu.Lock()
	w.at = w.at.UTC().Truncate(24 * time.Hour).Add(21 * time.Hour)
	w.mu.Unlock()
	honest, prober := w.telcos(t, "Honest"), w.telcos(t, "Prober <Telecom>")
	const known = "+2348031110000"
	if err := w.apply(t, honest, "known@telco.example", known); err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	w.mail.Forget()
	for range 3 { // a program that sends the same again and again
		if err := w.apply(t, prober, "KNOWN@telco.example", known); !errors.Is(err, registry.ErrAdminTaken) {
			t.Fatal(err)
		}
	}
	if n := w.trail(t, audit.EntityRefused); n != 1 {
		t.Fatalf("the same application stands %d times in the audit trail, want once", n)
	}
	var all sync.WaitGroup
	errs := make([]error, 2*limit)
	for i := range errs {
		all.Go(func() { errs[i] = w.apply(t, prober, fmt.Sprintf("guess%d@telco.example", i), known) })
	}
	all.Wait()
	told := 1
	for _, err := range errs {
		f, ok := errors.AsType[*fault.Error](err)
		switch {
		case errors.Is(err, registry.ErrAdminTaken):
			told++
		case !ok || f.Code != fault.QuotaExceeded || f.RetryAfter != 3*time.Hour+time.Second:
			t.Errorf("refused with %v after %v", err, f)
		}
	}
	if n := w.trail(t, audit.EntityRefused); told != limit || n != limit {
		t.Errorf("it was told %d times and %d are in the audit trail, want %d", told, n, limit)
	}
	fresh, taken := w.apply(t, prober, "fresh@telco.example", "+2348031119999"), w.apply(t, prober, "another@telco.example", known)
	if diff := cmp.Diff(fresh, taken); diff != "" || fault.CodeOf(fresh) != fault.QuotaExceeded {
		t.Errorf("after the limit, %v; an address without an account and one with it differ (-without +with):\n%s", fresh, diff)
	}
	w.deliver(t)
	if l := w.mail.Messages(); len(l) != 1 || l[0].To != w.staff || !strings.Contains(l[0].Subject, "Prober <Telecom>") || !strings.Contains(l[0].Text, "/portal/desk/clients/"+prober.Client.String()) {
		t.Errorf("the administrators got %+v, want one e-mail about the client", l)
	}
	if err := w.apply(t, honest, "other@telco.example", "+2348031118888"); err != nil {
		t.Errorf("another client: %v", err)
	}
	w.move(3 * time.Hour)
	if err := w.apply(t, prober, "fresh@telco.example", "+2348031119999"); err != nil {
		t.Errorf("on the next day: %v", err)
	}
}
