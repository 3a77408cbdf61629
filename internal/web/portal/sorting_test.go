package portal_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

var keyLink = regexp.MustCompile(`<a href="/portal/keys/[0-9a-f-]{36}" dir="auto">([^<]*)</a>`)

func (s *stack) keyNames(t testing.TB, path, session string) (names []string, body string) {
	t.Helper()
	res := s.get(t, path, session)
	wantPage(t, res, http.StatusOK)
	for _, m := range keyLink.FindAllStringSubmatch(res.Body.String(), -1) {
		names = append(names, m[1])
	}
	return names, res.Body.String()
}

// The column heads sort the keys in both directions, and show the direction.
func TestKeysAreSorted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	for _, k := range []struct {
		name    string
		expires time.Duration
	}{{"banana", 20 * 24 * time.Hour}, {"Apple", 0}, {"cherry", 10 * 24 * time.Hour}} {
		must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: k.name, Mode: access.Test, Expires: k.expires}, access.Operator, uuid.Nil))(t)
	}
	must(s.pool.Exec(t.Context(), `UPDATE api_key SET last_used_at = now() WHERE name = 'Apple'`))(t)
	for path, want := range map[string]string{
		"?sort=name": "Apple banana cherry", "?sort=name&dir=desc": "cherry banana Apple", "?sort=expires": "cherry banana Apple", "?sort=expires&dir=desc": "Apple banana cherry",
		"?sort=created": "banana Apple cherry", "?sort=used&dir=desc": "Apple", "": "cherry Apple banana", "?sort=secret&dir=desc": "cherry Apple banana",
	} {
		names, _ := s.keyNames(t, "/portal/keys"+path, admin.session)
		if got := strings.Join(names, " "); len(names) != 3 || !strings.HasPrefix(got, want) {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
	}
	desk := s.get(t, deskPage(s.bank, "/keys?sort=name"), s.as(t, "auditor").session)
	wantPage(t, desk, http.StatusOK, `href="`+deskPage(s.bank, "/keys?dir=desc&amp;sort=name")+`"`)
	if !regexp.MustCompile(`(?s)>Apple<.*>banana<.*>cherry<`).MatchString(desk.Body.String()) {
		t.Error("staff have the keys in another order")
	}
	_, body := s.keyNames(t, "/portal/keys?sort=name", admin.session)
	for _, text := range []string{`aria-sort="ascending"`, `href="/portal/keys?dir=desc&amp;sort=name"`, `href="/portal/keys?sort=created"`} {
		if !strings.Contains(body, text) {
			t.Errorf("the page does not hold %s", text)
		}
	}
}

// Paging keeps the order: the pages have every key once, in order. A link to another
// order drops the cursor.
func TestPagesKeepTheOrder(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	must(s.pool.Exec(t.Context(), `INSERT INTO api_key (id, entity_id, name, mode, purpose, mac, preview, rate, burst, networks, created_at)
		SELECT gen_random_uuid(), $1, 'key ' || lpad((n * 37 % 120)::text, 3, '0'), 'test', '', decode(lpad(to_hex(n), 64, '0'), 'hex'), 'lp_test_x', 0, 0, '{}', now() FROM generate_series(0, 119) n`, s.bank.ID))(t)
	var all []string
	path := "/portal/keys?sort=name&dir=desc"
	for range 3 {
		names, body := s.keyNames(t, path, admin.session)
		all = append(all, names...)
		if strings.Contains(path, "after=") && regexp.MustCompile(`<th[^>]*>\s*<a href="[^"]*after=`).MatchString(body) {
			t.Error("a head takes the cursor along")
		}
		if !strings.Contains(body, "120 keys") {
			t.Error("the page does not say how many keys there are")
		}
		next := nextLink.FindStringSubmatch(body)
		if next == nil {
			break
		}
		path = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	want := slices.Clone(all)
	slices.Sort(want)
	want = slices.Compact(want)
	slices.Reverse(want)
	if len(all) != 120 || !slices.Equal(all, want) {
		t.Errorf("%d keys, in order and once each: %t", len(all), slices.Equal(all, want))
	}
}

// The people of an organisation are sorted by name, role and time.
func TestTeamIsSorted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.as(t, "member")
	must(s.pool.Exec(t.Context(), `UPDATE account SET name = 'Abena' WHERE id = $1`, member.id))(t)
	for path, first := range map[string]visitor{
		"?sort=name": member, "?sort=name&dir=desc": admin, "?sort=role": admin, "?sort=role&dir=desc": member, "?sort=since": admin, "?sort=since&dir=desc": member,
	} {
		body := s.get(t, "/portal/team"+path, admin.session).Body.String()
		_, rows, _ := strings.Cut(body, "<tbody>")
		if i, j := strings.Index(rows, admin.email), strings.Index(rows, member.email); i < 0 || j < 0 || (i < j) != (first == admin) {
			t.Errorf("%s: the wrong one comes first", path)
		}
	}
}
