package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// commandLine runs commands on a database of its own.
type commandLine struct {
	*testing.T
	env Env
	*backend.Backend
}

func newCommandLine(t *testing.T) *commandLine {
	t.Helper()
	c := &commandLine{T: t, env: Env{Environ: []string{
		"LINEPROOF_DATABASE_URL=" + pgtest.URL(t), "LINEPROOF_DATA=" + t.TempDir(), "LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1",
	}}}
	b, err := backend.Open(t.Context(), console.New(c.env))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	c.Backend = b
	return c
}

// run runs a command and returns its output.
func (c *commandLine) run(want int, args ...string) string {
	c.Helper()
	var out bytes.Buffer
	env := c.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = args, strings.NewReader(""), &out, &out
	if code := Main(c.Context(), env); code != want {
		c.Errorf("%v: exit code %d, want %d: %s", args, code, want, out.String())
	}
	return out.String()
}

// staff creates a member of staff and returns a file with a session.
func (c *commandLine) staff(role string) (id uuid.UUID, file string) {
	c.Helper()
	s, err := c.Registry.CreateStaff(c.Context(), registry.StaffForm{
		Name: "S", Email: uuid.NewString() + "@regulator.example", Role: role, Password: "quiet-harbour-94-lanterns",
	}, access.Operator, uuid.Nil)
	if err != nil {
		c.Fatal(err)
	}
	if s.Pending != uuid.Nil { // as if somebody else had confirmed it
		if _, err := c.Pool.Exec(c.Context(), `WITH a AS (UPDATE approval SET state = 'lapsed' WHERE id = $2) UPDATE account SET role = $3 WHERE id = $1`, s.ID, s.Pending, role); err != nil {
			c.Fatal(err)
		}
	}
	return s.ID, c.sessionOf(s.ID)
}

// founder enrols two founders and returns the first, with a file with a session.
func (c *commandLine) founder() (id uuid.UUID, file string) {
	c.Helper()
	form := func(email string) registry.StaffForm {
		return registry.StaffForm{Name: "F", Email: email, Password: "quiet-harbour-94-lanterns"}
	}
	ids, err := c.Registry.Found(c.Context(), []registry.StaffForm{form("a@regulator.example"), form("b@regulator.example")}, access.Operator, uuid.Nil)
	if err != nil {
		c.Fatal(err)
	}
	return ids[0], c.sessionOf(ids[0])
}

// sessionOf returns a file with a session of an account.
func (c *commandLine) sessionOf(account uuid.UUID) (file string) {
	c.Helper()
	var session access.NewSession
	err := pg.InTx(c.Context(), c.Pool, func(tx pg.Tx) (err error) {
		_, err = tx.Exec(c.Context(), `INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, '', now(), now()) ON CONFLICT DO NOTHING`, account)
		if err != nil {
			return err
		}
		session, err = c.Access.OpenSession(c.Context(), tx, access.SessionForm{Account: account})
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	file = filepath.Join(c.TempDir(), "session")
	if err := os.WriteFile(file, []byte(session.Text.Reveal()+"\n"), 0o600); err != nil {
		c.Fatal(err)
	}
	return file
}

// A member of staff acts on the command line under their own name and counts as
// the second person beside the operator; an auditor does not, nor an administrator
// whom the operator created.
func TestStaffConfirmOnTheCommandLine(t *testing.T) {
	t.Parallel()
	c := newCommandLine(t)
	bank, err := c.Registry.CreateRelyingParty(t.Context(), "Harbour Bank", "RC 7", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	id := bank.ID.String()
	admin, session := c.founder()
	_, auditor := c.staff("auditor")
	c.run(console.ExitRefused, "entity", "revoke", id, "--reason", "Because", "--session-file", auditor)
	c.run(console.ExitOK, "entity", "revoke", id, "--reason", "Because", "--session-file", session)
	moved, err := c.Registry.Restore(t.Context(), bank.ID, "A mistake", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	c.run(console.ExitRefused, "approval", "confirm", moved.Pending.String())
	c.run(console.ExitRefused, "approval", "confirm", moved.Pending.String(), "--session-file", auditor)
	later, puppet := c.staff("auditor")
	err = pg.InTx(t.Context(), c.Pool, func(tx pg.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE account SET role = 'administrator' WHERE id = $1`, later)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := c.run(console.ExitRefused, "approval", "confirm", moved.Pending.String(), "--session-file", puppet); !strings.Contains(out, "two independent people") {
		t.Errorf("a puppet: %s", out)
	}
	if out := c.run(console.ExitOK, "approval", "confirm", moved.Pending.String(), "--session-file", session); !strings.Contains(out, "given") {
		t.Errorf("confirmed: %s", out)
	}
	if out := c.run(console.ExitOK, "entity", "show", id); !strings.Contains(out, "Approved") {
		t.Errorf("afterwards: %s", out)
	}
	list, err := audit.List(t.Context(), c.Pool, audit.Filter{Subject: bank.ID, Actor: admin})
	if err != nil || len(list) != 2 {
		t.Errorf("the administrator's entries are %+v, %v; want the revocation and the restoration", list, err)
	}
}

// Pending blacklistings are listed with the approvals, without the number.
func TestPendingBlacklistingsAreListed(t *testing.T) {
	t.Parallel()
	c := newCommandLine(t)
	order := uuid.New()
	_, err := c.Pool.Exec(t.Context(), `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_at, effective_at, bar_reason, bar_scope, given_at, event)
		VALUES ($1, 2348031234567, 'BLACKLIST', 'PENDING', 'Reported stolen', 'operator', now(), clock_timestamp(), '', '', '', '')`, order)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"approval", "list"}, {"approval", "list", "--json"}} {
		out := c.run(console.ExitOK, args...)
		if !strings.Contains(out, order.String()) || !strings.Contains(out, "line.blacklist") || !strings.Contains(out, "Reported stolen") || strings.Contains(out, "8031234567") {
			t.Errorf("%v printed %s", args, out)
		}
	}
}
