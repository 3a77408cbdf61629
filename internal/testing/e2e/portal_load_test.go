package e2e_test

import (
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// large is how many rows make a table large. Whoever scans one from end to end
// reads as many; a hash join may look at the first row of a scan, find that there
// is nothing to join it with, and read no further.
const large = 10_000

// pageBudget is the server time within which 95 of 100 pages must come.
const pageBudget = 100 * time.Millisecond

// Every page that a person can reach by following links and by searching is opened by somebody of
// each kind, again and again, in a service that has been in use for weeks. None
// fails, and none makes the database read a large table from end to end. How
// long they take depends on the machine: it is said, and judged only with
// LINEPROOF_E2E_ENFORCE=1.
func TestPortalLoad(t *testing.T) {
	entries := size(t, "LINEPROOF_E2E_ENTRIES", 30_000)
	o := newTown(t, size(t, "LINEPROOF_E2E_ENTITIES", 50), size(t, "LINEPROOF_E2E_KEYS", 500), entries, size(t, "LINEPROOF_E2E_REFUSED", 30_000))
	p := start(t, o.fixture)
	before := o.scans(t)
	rounds := size(t, "LINEPROOF_E2E_ROUNDS", 3)
	t.Logf("%d entities, %d keys, %d records, %d refused requests; each page %d times", len(o.entities), o.keys, entries, o.refused, rounds)
	t.Logf("%-15s %-48s %6s %9s %9s", "who", "page", "kB", "p50", "p95")
	slow := 0
	for _, who := range []struct {
		name, kind, role string
		entity           uuid.UUID
	}{
		{"busy bank", "admin", "", o.bank.ID},
		{"quiet bank", "admin", "", o.entities[len(o.entities)-1]},
		{"telco", "admin", "", o.telco.ID},
		{"administrator", "staff", "administrator", uuid.Nil},
	} {
		v := &crawler{t: t, base: "http://" + p.public, session: o.signIn(t, who.name, who.kind, who.role, who.entity), searching: true}
		pages, files := v.explore("/portal/")
		if len(pages) < 3 {
			t.Errorf("%s: there are only %d pages", who.name, len(pages))
		}
		for _, shape := range slices.Sorted(maps.Keys(pages)) {
			if files[shape] {
				continue // it takes as long as it is large
			}
			times := make([]time.Duration, rounds)
			var bytes int
			for i := range times {
				began := time.Now()
				body, _ := v.open(pages[shape])
				bytes = len(body)
				times[i] = time.Since(began)
			}
			slices.Sort(times)
			p50, p95 := times[len(times)/2], times[(len(times)*95-1)/100]
			t.Logf("%-15s %-48s %6.1f %9s %9s", who.name, shape, float64(bytes)/1000, p50.Round(100*time.Microsecond), p95.Round(100*time.Microsecond))
			if p95 > pageBudget {
				slow++
			}
		}
	}
	if slow > 0 && os.Getenv("LINEPROOF_E2E_ENFORCE") == "1" {
		t.Errorf("%d pages take more than %s", slow, pageBudget)
	}
	p.terminate(t) // with its connections their last counts of what they read
	for table, rows := range o.scans(t) {
		if more := rows - before[table]; more >= large*int64(rounds) { // less is a job's, which runs once
			t.Errorf("table %s was scanned: %d rows", table, more)
		}
	}
}

// scans returns how many rows were read by scanning, of every large table.
func (o *portalData) scans(t *testing.T) map[string]int64 {
	t.Helper()
	found := make(map[string]int64)
	rows := must(o.pool.Query(t.Context(), `SELECT relname::text, seq_tup_read FROM pg_stat_user_tables WHERE n_live_tup >= $1`, large))(t)
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		found[name] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// signIn makes an account and opens a session for it.
func (o *portalData) signIn(t *testing.T, name, kind, role string, entity uuid.UUID) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	o.exec(t, `INSERT INTO account (id, kind, entity_id, role, name, email, email_key, password_hash, verified_at, verified_by, created_at)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $6, 'x', now(), 'email', now())`, id, kind, pg.ID(entity), role, name, id.String()+"@load.example")
	var s access.NewSession
	err := pg.InTx(t.Context(), o.pool, func(tx pg.Tx) (err error) {
		s, err = o.keeper.OpenSession(t.Context(), tx, access.SessionForm{Portal: true, Account: id, Entity: entity})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text.Reveal()
}

// crawler is somebody with a browser.
type crawler struct {
	t       *testing.T
	base    string
	session string

	searching bool // it fills in search forms, too
}

// open returns a page, or the link to which it sends a browser on, or that it
// is a file to be kept.
func (v *crawler) open(path string) (page []byte, file bool) {
	v.t.Helper()
	r := must(http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.base+path, http.NoBody))(v.t)
	r.Header.Set("Cookie", "__Host-lineproof="+v.session)
	r.Header.Set("Accept", "text/html")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		return nil, true // an export of ten million records would be read to its end
	}
	body := must(io.ReadAll(answer.Body))(v.t)
	switch {
	case answer.StatusCode == http.StatusSeeOther:
		return fmt.Appendf(nil, `<a href="%s">`, html.EscapeString(answer.Header.Get("Location"))), false
	case answer.StatusCode == http.StatusUnprocessableEntity: // a search for something that can't be
	case answer.StatusCode != http.StatusOK:
		v.t.Errorf("%s: %s", path, answer.Status)
	}
	return body, false
}

var (
	links = regexp.MustCompile(`(?:href|hx-get)="(/portal/[^"#]*)`)
	skips = regexp.MustCompile(`^/portal/(assets/|sign-?out)`)
)

// explore follows every link, and if asked every search by one field, one of each shape, and
// returns a path for each, and which of them are files.
func (v *crawler) explore(from string) (found map[string]string, files map[string]bool) {
	v.t.Helper()
	const most = 500
	found, files = map[string]string{}, map[string]bool{}
	for next := []string{from}; len(next) > 0 && len(found) < most; next = next[1:] {
		shape := shapeOf(next[0])
		if _, known := found[shape]; known || skips.MatchString(next[0]) {
			continue
		}
		found[shape] = next[0]
		page, file := v.open(next[0])
		files[shape] = file
		for _, m := range links.FindAllSubmatch(page, -1) {
			next = append(next, html.UnescapeString(string(m[1])))
		}
		if v.searching {
			next = append(next, searches(page, next[0])...)
		}
	}
	if len(found) >= most {
		v.t.Errorf("there are more than %d pages", most)
	}
	return found, files
}

// shapeOf returns a path without what differs between pages of one kind.
func shapeOf(path string) string {
	path, query, _ := strings.Cut(path, "?")
	shape := anyID.ReplaceAllString(path, "{id}")
	if values, err := url.ParseQuery(query); err == nil && len(values) > 0 {
		shape += "?" + strings.Join(slices.Sorted(maps.Keys(values)), "&")
	}
	return shape
}
