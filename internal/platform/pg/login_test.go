package pg_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// loginAs returns a pool of a real login that is a member of role and nothing
// else: a superuser session after SET ROLE could reset its role.
func loginAs(t *testing.T, address, role string) *pgxpool.Pool {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	login := strings.TrimPrefix(u.Path, "/") + "_" + role
	for _, sql := range []string{"CREATE ROLE " + login + " LOGIN IN ROLE " + role} {
		if err := pgtest.Server(t).Admin(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	u.User = url.User(login)
	return pgtest.Open(t, u.String(), "")
}
