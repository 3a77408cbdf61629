package portal_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tableRow  = regexp.MustCompile(`(?s)<tr[^>]*>(.*?)</tr>`)
	paperLink = regexp.MustCompile(`documents/([0-9a-f-]{36})`)
	tags      = regexp.MustCompile(`<[^>]*>`)
	dated     = regexp.MustCompile(`<time datetime="([^"]*)"`)
)

// listedPaper is a document as a table shows it.
type listedPaper struct {
	id    string
	cells map[string]string // by the label of the column; moments as they are sorted
}

// listedPapers returns all documents of a table, page by page.
func (s *stack) listedPapers(t testing.TB, path, session string) (list []listedPaper) {
	t.Helper()
	for range 100 {
		res := s.get(t, path, session)
		wantPage(t, res, http.StatusOK)
		_, table, _ := strings.Cut(res.Body.String(), `<caption class="visually-hidden">Documents</caption>`)
		_, table, _ = strings.Cut(table, "<tbody>")
		for _, row := range tableRow.FindAllStringSubmatch(table, -1) {
			p := listedPaper{id: paperLink.FindStringSubmatch(row[1])[1], cells: map[string]string{}}
			for _, cell := range strings.Split(row[1], "<td")[1:] {
				label := regexp.MustCompile(`data-label="([^"]*)"`).FindStringSubmatch(cell)[1]
				p.cells[label] = strings.ToLower(strings.TrimSpace(tags.ReplaceAllString("<td"+cell, "")))
				if at := dated.FindStringSubmatch(cell); at != nil {
					p.cells[label] = at[1]
				}
			}
			list = append(list, p)
		}
		next := nextLink.FindStringSubmatch(res.Body.String())
		if next == nil {
			return list
		}
		path = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	t.Fatal("the pages have no end")
	return nil
}

// stateRanks are the words of the states in their order.
var stateRanks = []string{"received", "being scanned", "waiting for a decision", "rejected, cannot be shown", "infected", "accepted", "rejected", "deleted"}

func sortedCell(p listedPaper, label string) string {
	text := p.cells[label]
	if label != "State" {
		return text
	}
	i := slices.IndexFunc(stateRanks, func(word string) bool { return strings.HasPrefix(text, word) })
	return string(rune('a' + i))
}

// Documents are sorted by every sortable column, as they are shown and in both
// directions, and the pages have each of them once, however many are equal.
func TestDocumentsAreSorted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	must(s.pool.Exec(t.Context(), `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at, moved_at)
		SELECT gen_random_uuid(), CASE WHEN n % 5 = 0 THEN $2::uuid ELSE $1::uuid END, kind, upper(kind), (ARRAY['Scan','scan','paper'])[n % 3 + 1] || ' ' || n % 4, 'image/png', 7, decode(repeat('00', 32), 'hex'),
			(ARRAY['received','scanning','clean','refused','infected','accepted','rejected','deleted'])[n % 8 + 1], 'account', gen_random_uuid(),
			now() - make_interval(days => n % 6), now() - make_interval(mins => n % 6)
		FROM (SELECT n, (ARRAY['CAC_CERTIFICATE','ADMIN_ID','TAX_ID','OTHER'])[n % 4 + 1] AS kind FROM generate_series(0, 174) n) x`, s.bank.ID, s.other.ID))(t)
	admin, auditor := s.as(t, "admin"), s.as(t, "auditor")
	of := map[string]string{"kind": "Document", "file": "File", "state": "State", "uploaded": "Uploaded"}
	desk := map[string]string{"entity": "Organisation", "kind": "Document", "file": "File", "state": "State", "since": "Since"}
	for _, list := range []struct {
		path, session string
		heads         map[string]string
		want          int
	}{
		{"/portal/documents?", admin.session, of, 140},
		{"/portal/desk/entities/" + s.bank.ID.String() + "/documents?", auditor.session, of, 140},
		{"/portal/desk/documents?state=any&", auditor.session, desk, 175},
	} {
		for sort, label := range list.heads {
			for _, dir := range []string{"", "&dir=desc"} {
				got := s.listedPapers(t, list.path+"sort="+sort+dir, list.session)
				var ids, cells []string
				for _, p := range got {
					ids, cells = append(ids, p.id), append(cells, sortedCell(p, label))
				}
				slices.Sort(ids)
				if n := len(slices.Compact(ids)); len(got) != list.want || n != list.want {
					t.Errorf("%s by %s%s: %d rows of %d documents, want %d", list.path, sort, dir, len(got), n, list.want)
				}
				if dir != "" {
					slices.Reverse(cells)
				}
				if !slices.IsSorted(cells) || cells[0] == cells[len(cells)-1] {
					t.Errorf("%s by %s%s is not in order: %q", list.path, sort, dir, cells)
				}
			}
		}
	}
	wantPage(t, s.get(t, "/portal/documents", admin.session), http.StatusOK, `aria-sort="descending"`, `href="/portal/documents?sort=uploaded"`, `href="/portal/documents?sort=file"`)
	wantPage(t, s.get(t, "/portal/desk/documents?state=any", auditor.session), http.StatusOK, `href="/portal/desk/documents?sort=entity&amp;state=any"`)
	wantPage(t, s.get(t, "/portal/desk/documents?sort=file&dir=desc", auditor.session), http.StatusOK, `name="sort" value="file"`, `name="dir" value="desc"`) // the filter keeps the order
}
