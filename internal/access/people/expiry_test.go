package people_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// The admins of an organisation get an e-mail 30, 7 and 1 days before a live key
// expires, once each, with its name; members do not. Nobody is notified of a key that
// has a successor or is revoked, of a test key, or of one that was never to last that
// long.
func TestAdminsAreNotifiedBeforeAKeyExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(t, people.InviteForm{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	key := func(name, mode string, days int) uuid.UUID {
		t.Helper()
		return must(w.Access.CreateKey(t.Context(), access.KeyForm{Entity: w.bank.ID, Name: name, Mode: mode, Expires: access.Days(days)}, operator, uuid.Nil))(t).ID
	}
	const day = 24 * time.Hour
	key("mobile app", access.Live, 100)
	key("pipeline", access.Test, 100)
	key("for ever", access.Live, 0)
	revoked, rolled := key("revoked", access.Live, 100), key("rolled", access.Live, 100)
	if err := w.Access.RevokeKey(t.Context(), w.bank.ID, revoked, operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.move(60 * day)
	must(w.Access.RollKey(t.Context(), w.bank.ID, rolled, time.Hour, operator, uuid.Nil))(t)
	w.move(-60 * day)
	w.mail.Forget()
	var sent []int // days before the expiry
	for left := 100; left >= 0; left-- {
		for range 2 { // the job runs often
			if err := w.NotifyOfExpiry(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.deliver(t)
		for _, m := range w.mail.Messages() {
			sent = append(sent, left)
			if !strings.Contains(m.Text, "mobile app: ") || strings.Contains(m.Text, "rolled") || !strings.Contains(m.HTML, "mobile app: ") || m.To != w.admin {
				t.Errorf("%d days before, to %s:\n%s", left, m.To, m.Text)
			}
		}
		w.mail.Forget()
		w.move(day)
	}
	if len(sent) != 3 || sent[0] != 30 || sent[1] != 7 || sent[2] != 1 {
		t.Errorf("e-mails were sent %v days before the expiry, want 30, 7 and 1", sent)
	}
	key("a week's trial", access.Live, 5)
	if err := w.NotifyOfExpiry(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(w.queued) != 0 {
		t.Error("a key for five days is said to expire soon when it is created")
	}
}
