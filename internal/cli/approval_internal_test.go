package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/registry"
)

// console is a command line on a database of its own.
type console struct {
	*testing.T
	env Env
	*parts
}

func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{T: t, env: Env{Environ: []string{
		"LINEPROOF_DATABASE_URL=" + pgtest.URL(t), "LINEPROOF_DATA=" + t.TempDir(), "LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1",
	}}}
	p, err := (&app{env: c.env}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	c.parts = p
	return c
}

// run runs a command and returns all that it said.
func (c *console) run(want int, args ...string) string {
	c.Helper()
	var said bytes.Buffer
	env := c.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = args, strings.NewReader(""), &said, &said
	if code := Main(c.Context(), env); code != want {
		c.Errorf("%v ended with %d, want %d: %s", args, code, want, said.String())
	}
	return said.String()
}

// staff makes a member of staff and returns a file with a session of theirs.
func (c *console) staff(role string) (id uuid.UUID, file string) {
	c.Helper()
	s, err := c.registry.CreateStaff(c.Context(), registry.StaffForm{
		Name: "S", Email: uuid.NewString() + "@regulator.example", Role: role, Password: "quiet-harbour-94-lanterns",
	}, access.Operator, uuid.Nil)
	if err != nil {
		c.Fatal(err)
	}
	var session access.Opened
	err = pg.InTx(c.Context(), c.pool, func(tx pg.Tx) (err error) {
		session, err = c.keeper.OpenSession(c.Context(), tx, access.Opening{Account: s.ID})
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	file = filepath.Join(c.TempDir(), "session")
	if err := os.WriteFile(file, []byte(session.Text.Reveal()+"\n"), 0o600); err != nil {
		c.Fatal(err)
	}
	return s.ID, file
}

// On the command line a member of staff acts under their own name, and is then
// the second person beside the operator; an auditor is not.
func TestStaffConfirmOnTheCommandLine(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	bank, err := c.registry.CreateAsker(t.Context(), "Harbour Bank", "RC 7", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	id := bank.ID.String()
	admin, session := c.staff("administrator")
	_, auditor := c.staff("auditor")
	c.run(exitRefused, "entity", "revoke", id, "--reason", "Because", "--session-file", auditor)
	c.run(exitOK, "entity", "revoke", id, "--reason", "Because", "--session-file", session)
	moved, err := c.registry.Restore(t.Context(), bank.ID, "A mistake", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	c.run(exitRefused, "approval", "confirm", moved.Waits.String())
	c.run(exitRefused, "approval", "confirm", moved.Waits.String(), "--session-file", auditor)
	if said := c.run(exitOK, "approval", "confirm", moved.Waits.String(), "--session-file", session); !strings.Contains(said, "given") {
		t.Errorf("confirmed: %s", said)
	}
	if said := c.run(exitOK, "entity", "show", id); !strings.Contains(said, "Approved") {
		t.Errorf("afterwards: %s", said)
	}
	list, err := audit.List(t.Context(), c.pool, audit.Filter{Subject: bank.ID, Actor: admin})
	if err != nil || len(list) != 2 {
		t.Errorf("the administrator's entries are %+v, %v; want the revocation and the restoration", list, err)
	}
}

// The list of what waits has blacklistings, too, and never the number.
func TestWaitingBlacklistingsAreListed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	order := uuid.New()
	_, err := c.pool.Exec(t.Context(), `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_at, effective_at)
		VALUES ($1, 2348031234567, 'BLACKLIST', 'PENDING', 'Reported stolen', 'operator', now(), now())`, order)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"approval", "list"}, {"approval", "list", "--json"}} {
		said := c.run(exitOK, args...)
		if !strings.Contains(said, order.String()) || !strings.Contains(said, blacklisting) || !strings.Contains(said, "Reported stolen") || strings.Contains(said, "8031234567") {
			t.Errorf("%v said %s", args, said)
		}
	}
}
