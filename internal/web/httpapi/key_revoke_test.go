package httpapi_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// emails are those that were queued, by account.
type emails struct {
	mu  sync.Mutex
	all []people.Email
}

func (s *stack) emails() *emails {
	e := &emails{}
	s.People.QueueEmail = func(_ context.Context, _ pg.Tx, email people.Email) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.all = append(e.all, email)
		return nil
	}
	return e
}

func (e *emails) count(kind people.EmailKind) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, email := range e.all {
		if email.Kind == kind {
			n++
		}
	}
	return n
}

// One phished member can't stop a bank: a live key is revoked by an admin, by a member with
// the right to make live keys, or by its own maker. Others can revoke test keys only.
func TestMemberCannotRevokeTheLiveKeysOfOthers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, maker, admin := s.member(t), s.member(t), s.admin(t)
	s.enrolled(t, maker)
	super(t, s, `UPDATE account SET makes_keys = true, verified_at = now(), verified_by = 'email' WHERE id = '`+maker.id.String()+`'`)
	made := func() string {
		res := s.do(t, post(keysPath, maker.session, `{"name":"payments","mode":"live"}`))
		if res.Code != http.StatusOK {
			t.Fatalf("creating a live key answered %d: %s", res.Code, res.Body)
		}
		return field(t, res.Body.Bytes(), "data", "keyId")
	}
	revoke := func(who person, key string, want int) {
		t.Helper()
		if res := s.do(t, without(http.MethodDelete, keysPath+"/"+key, who.session)); res.Code != want {
			t.Errorf("revoking answered %d, want %d: %s", res.Code, want, res.Body)
		}
	}
	key := made()
	revoke(member, key, http.StatusForbidden)
	if res := s.do(t, asking(s.key, knownNumber)); res.Code != http.StatusOK {
		t.Errorf("the bank's key answers %d", res.Code)
	}
	revoke(member, s.ownTestKey(t, s.bank.ID).ID.String(), http.StatusOK)
	revoke(admin, key, http.StatusOK)
	revoke(maker, s.ownKey(t, s.bank.ID).ID.String(), http.StatusOK)

	own := made()
	super(t, s, `UPDATE account SET makes_keys = false WHERE id = '`+maker.id.String()+`'`)
	revoke(maker, s.ownKey(t, s.bank.ID).ID.String(), http.StatusForbidden)
	revoke(maker, own, http.StatusOK)
}

// Every member can report a live key as leaked. All admins are told, once in an hour, and the
// key works as before.
func TestLeakedKeyIsReportedToTheAdmins(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.member(t)
	for range 2 {
		s.admin(t)
	}
	sent := s.emails()
	key := s.ownKey(t, s.bank.ID)
	if got := sent.count(people.CredentialAdded); got != 2 {
		t.Errorf("%d e-mails about a new live key, want one to each of two admins", got)
	}
	report := func() {
		t.Helper()
		if res := s.do(t, without(http.MethodPost, keysPath+"/"+key.ID.String()+"/report-leaked", s.aged(t, member).session)); res.Code != http.StatusOK {
			t.Fatalf("reporting answered %d: %s", res.Code, res.Body)
		}
	}
	report()
	report()
	if got := sent.count(people.KeyLeaked); got != 2 {
		t.Errorf("%d e-mails about a leaked key, want one to each of two admins", got)
	}
	super(t, s, `UPDATE api_key SET leak_notice_at = now() - interval '61 minutes' WHERE id = '`+key.ID.String()+`'`)
	report()
	if got := sent.count(people.KeyLeaked); got != 4 {
		t.Errorf("%d e-mails after more than an hour, want 4", got)
	}
	if res := s.do(t, asking(key.Text.Reveal(), knownNumber)); res.Code != http.StatusOK {
		t.Errorf("the reported key answers %d", res.Code)
	}
	var reports int
	err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'key.reported_leaked' AND subject_id = $1 AND actor_id = $2 AND entity_id = $3`, key.ID, member.id, s.bank.ID).Scan(&reports)
	if err != nil || reports != 3 {
		t.Errorf("%d reports in the audit trail, %v", reports, err)
	}
	var about, path, detail string
	if err := s.pool.QueryRow(t.Context(), `SELECT about, path, detail FROM message WHERE kind = 'key_leaked' LIMIT 1`).Scan(&about, &path, &detail); err != nil {
		t.Fatal(err)
	}
	if name := "the live API key “payments” (" + s.previewOf(t, key.ID) + ")"; about != name || path != "/portal/keys/"+key.ID.String()+"/revoke" || detail != "by Zainab Sule" {
		t.Errorf("the message says %q, %q, %q", about, path, detail)
	}
}

func (s *stack) previewOf(t *testing.T, key uuid.UUID) string {
	t.Helper()
	return must(s.Access.Key(t.Context(), s.bank.ID, key))(t).Key.Preview
}
