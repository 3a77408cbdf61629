package access_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const password secret.Text = "quiet-river-9"

// here is where the tests call from.
var here = netip.MustParseAddr("127.0.0.1")

// world is a service whose clock the test moves, and a registry.
type world struct {
	*access.Service

	registry *registry.Registry
	clock    time.Time
}

func newWorld(t *testing.T, peppers ...secret.Text) *world {
	t.Helper()
	return newWorldIn(t, pgtest.NewAnyTime(t), peppers...)
}

func newWorldIn(t *testing.T, pool *pgxpool.Pool, peppers ...secret.Text) *world {
	t.Helper()
	if len(peppers) == 0 {
		peppers = []secret.Text{"a pepper for tests, thirty-two bytes long"}
	}
	p, err := secret.NewPeppers(peppers)
	if err != nil {
		t.Fatal(err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{clock: time.Now()}
	now := func() time.Time { return w.clock }
	passwords := secret.NewPasswords(p, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64)
	w.registry = &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: now}
	w.Service = &access.Service{
		Pool: pool, Peppers: p, TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: 30 * time.Minute, Now: now,
	}
	return w
}

// staff makes an account of the regulator's staff.
func (w *world) staff(t *testing.T) uuid.UUID {
	t.Helper()
	email := uuid.NewString() + "@regulator.example"
	made, err := w.registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: email, Role: "administrator", Password: password}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// open opens a session of an account.
func (w *world) open(t *testing.T, account uuid.UUID) (s access.NewSession) {
	t.Helper()
	err := pg.InTx(t.Context(), w.Pool, func(tx pg.Tx) (err error) {
		s, err = w.OpenSession(t.Context(), tx, access.SessionForm{Account: account, From: netip.MustParseAddr("192.0.2.7"), Agent: "curl/8"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// key creates a bank and a key for it, and checks that the key works.
func (w *world) key(t *testing.T) (registry.Entity, access.NewKey) {
	t.Helper()
	bank, err := w.registry.CreateRelyingParty(t.Context(), "Bank", "RC1", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: "live"}, access.Operator, uuid.Nil)
	if err != nil || !w.admits(t, key.Text) {
		t.Fatalf("a fresh key is not good: %v", err)
	}
	return bank, key
}

func (w *world) admits(t *testing.T, text secret.Text) bool {
	t.Helper()
	_, err := w.Authenticate(t.Context(), text.Reveal(), here)
	if err != nil && !errors.Is(err, access.ErrUnauthenticated) {
		t.Fatal(err)
	}
	return err == nil
}

// A session ends after its lifetime, or when it was idle too long; use keeps it
// alive, although the last use is stored only from time to time.
func TestSessionEndsByAgeAndByIdleness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.staff(t)
	login := w.open(t, account)
	for range 15 { // 7.5 hours, used every half hour less a minute
		w.clock = w.clock.Add(29 * time.Minute)
		if !w.admits(t, login.Text) {
			t.Fatal("a session in use ended before its time")
		}
	}
	w.clock = w.clock.Add(45 * time.Minute)
	if w.admits(t, login.Text) {
		t.Error("a session outlives its eight hours")
	}
	login = w.open(t, account)
	w.clock = w.clock.Add(31 * time.Minute)
	if w.admits(t, login.Text) {
		t.Error("an idle session is still good")
	}
}

// Revoking a client revokes all its tokens at once.
func TestRevokedClientAndItsTokensEndAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.CreateClient(t.Context(), access.ClientForm{Name: "c", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := w.IssueToken(t.Context(), c.ID.String(), c.Secret, nil)
	if err != nil || !w.admits(t, token.Text) {
		t.Fatalf("a fresh token is not good: %v", err)
	}
	if err := w.RevokeClient(t.Context(), c.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if w.admits(t, token.Text) {
		t.Error("a token outlives its client")
	}
	if _, err := w.IssueToken(t.Context(), c.ID.String(), c.Secret, nil); !errors.Is(err, access.ErrBadClient) {
		t.Errorf("a revoked client gets %v, want ErrBadClient", err)
	}
	if err := w.RevokeClient(t.Context(), c.ID, access.Operator, uuid.Nil); !errors.Is(err, access.ErrNoClient) {
		t.Errorf("revoking twice gives %v, want ErrNoClient", err)
	}
}

// The secret of one client does not work with the id of another.
func TestSecretBelongsToItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var c [2]access.NewClient
	for i := range c {
		var err error
		if c[i], err = w.CreateClient(t.Context(), access.ClientForm{Name: "c", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.IssueToken(t.Context(), c[0].ID.String(), c[1].Secret, nil); !errors.Is(err, access.ErrBadClient) {
		t.Errorf("the other's secret gives %v, want ErrBadClient", err)
	}
}

// No credential is stored in a form that could be used.
func TestCredentialsAreStoredOnlyAsHMACs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, key := w.key(t)
	var row string
	if err := w.Pool.QueryRow(t.Context(), `SELECT k::text FROM api_key k`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	if text := key.Text.Reveal(); len(row) == 0 || containsRun(row, text, 12) {
		t.Errorf("the row %q holds a run of the key", row)
	}
	if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: "both"}, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a key of another mode: %v, want it refused", err)
	}
	if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: uuid.New(), Name: "app", Mode: "live"}, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a key for no entity: %v, want NOT_FOUND", err)
	}
}

// A revoked key stops working at once, is found by its text, and cannot be
// revoked twice.
func TestRevokedKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, key := w.key(t)
	if id, err := w.FindKey(t.Context(), key.Text); err != nil || id != key.ID {
		t.Errorf("FindKey = %v, %v; want %v", id, err, key.ID)
	}
	if err := w.RevokeKey(t.Context(), uuid.Nil, key.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if w.admits(t, key.Text) {
		t.Error("a revoked key is still good")
	}
	if err := w.RevokeKey(t.Context(), uuid.Nil, key.ID, access.Operator, uuid.Nil); !errors.Is(err, access.ErrNoKey) {
		t.Errorf("revoking twice = %v, want ErrNoKey", err)
	}
	var trail int
	if err := w.Pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'key.revoked' AND subject_id = $1 AND entity_id = $2`, key.ID, bank.ID).Scan(&trail); err != nil || trail != 1 {
		t.Errorf("%d entries in the trail, %v; want 1", trail, err)
	}
}

// containsRun reports whether s contains n consecutive characters of the
// secret, not counting the prefix.
func containsRun(s, text string, n int) bool {
	for i := len("lp_live_"); i+n <= len(text); i++ {
		for j := 0; j+n <= len(s); j++ {
			if s[j:j+n] == text[i:i+n] {
				return true
			}
		}
	}
	return false
}

// Credentials stay valid when a new pepper is put in front of the old one.
func TestCredentialsStayValidUnderANewPepper(t *testing.T) {
	t.Parallel()
	const older, newer secret.Text = "the pepper of last year, long enough.", "the pepper of this year, long enough."
	w := newWorld(t, older)
	login := w.open(t, w.staff(t))
	both, err := secret.NewPeppers([]secret.Text{newer, older})
	if err != nil {
		t.Fatal(err)
	}
	w.Peppers = both
	if !w.admits(t, login.Text) {
		t.Error("the session ended with the new pepper")
	}
	if w.Peppers, err = secret.NewPeppers([]secret.Text{newer}); err != nil {
		t.Fatal(err)
	}
	if w.admits(t, login.Text) {
		t.Error("the session is good without the pepper that it was made under")
	}
}

func TestDeleteExpiredDeletesOnlyWhatExpiredADayAgo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.staff(t))
	for _, tc := range []struct {
		later time.Duration
		want  int64
	}{{31 * time.Hour, 0}, {2 * time.Hour, 1}} {
		w.clock = w.clock.Add(tc.later)
		if n, err := w.DeleteExpired(t.Context()); err != nil || n != tc.want {
			t.Errorf("forgot %d, %v; want %d", n, err, tc.want)
		}
	}
}

// A principal carries its rights: a client the network that it supplies, and
// staff their role.
func TestPrincipalsComeWithNetworkAndRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client, err := w.CreateClient(t.Context(), access.ClientForm{Name: "C", Scopes: []string{"line:supply", "entity:onboard"}, Network: "MTN"}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := w.IssueToken(t.Context(), client.ID.String(), client.Secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	login := w.open(t, w.staff(t))
	for name, tc := range map[string]struct {
		text    secret.Text
		network string
		role    access.Role
	}{"client": {token.Text, "MTN", ""}, "staff": {login.Text, "", access.Administrator}} {
		who, err := w.Authenticate(t.Context(), tc.text.Reveal(), here)
		if err != nil || who.Network != tc.network || who.Role != tc.role {
			t.Errorf("%s: network %q and role %q, want %q and %q (%v)", name, who.Network, who.Role, tc.network, tc.role, err)
		}
	}
}

// A client has a network only while it may supply lines for it.
func TestNetworkOfAClientThatMaySupply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := func(scopes ...string) uuid.UUID {
		t.Helper()
		c, err := w.CreateClient(t.Context(), access.ClientForm{Name: "C", Scopes: scopes, Network: "MTN"}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	check := func(name string, id uuid.UUID, want string) {
		t.Helper()
		if got, err := w.NetworkOf(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	supplier := client("entity:onboard", "line:supply")
	check("one that supplies", supplier, "MTN")
	check("one that only onboards", client("entity:onboard"), "")
	check("none", uuid.New(), "")
	check("nobody's", uuid.Nil, "")
	for _, step := range []struct {
		name string
		do   func(context.Context, uuid.UUID, audit.Actor, uuid.UUID) error
		want string
	}{{"suspended", w.SuspendClient, ""}, {"resumed", w.ResumeClient, "MTN"}, {"revoked", w.RevokeClient, ""}} {
		if err := step.do(t.Context(), supplier, access.Operator, uuid.Nil); err != nil {
			t.Fatal(err)
		}
		check(step.name, supplier, step.want)
	}
}
