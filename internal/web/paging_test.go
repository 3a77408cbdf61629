package web_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/web"
)

func get(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }

// Links keep every parameter but the cursor.
func TestPageLinksKeepTheQuery(t *testing.T) {
	t.Parallel()
	r := get("/list?sort=name&after=b&q=a+b")
	want := web.Links{First: "/list?q=a+b&sort=name", Next: "/list?after=c&q=a+b&sort=name"}
	if got := web.PageLinks(r, web.Cursor(r), "c"); got != want {
		t.Errorf("the links are %+v, want %+v", got, want)
	}
	if got := web.PageLinks(r, "", ""); got != (web.Links{}) {
		t.Errorf("the only page has the links %+v", got)
	}
	if got := web.PageLinks(get("/list?after=b"), "b", ""); got.First != "/list" {
		t.Errorf("the first page is %s", got.First)
	}
}

// A cursor that is not an id leads to the first page.
func TestCursorsThatAreNoIDsLeadToTheFirstPage(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	if got := web.CursorID(get("/?after=" + id.String())); got != id || web.IDCursor(got) != id.String() {
		t.Errorf("the cursor is %s, want %s", got, id)
	}
	for _, path := range []string{"/", "/?after=", "/?after=7", "/?after=" + id.String() + "x"} {
		if got := web.CursorID(get(path)); got != uuid.Nil || web.IDCursor(got) != "" {
			t.Errorf("%s has the cursor %s", path, got)
		}
	}
}

// A row more than the page shows means that there is a next page.
func TestCutPageFindsTheNextCursor(t *testing.T) {
	t.Parallel()
	text := func(n *int) string { return strconv.Itoa(*n) }
	for n, want := range map[int]string{0: "", 2: "", 3: "1"} {
		rows := []int{0, 1, 2}[:n]
		if page, next := web.CutPage(rows, 2, text); len(page) != min(n, 2) || next != want {
			t.Errorf("of %d rows the page has %d, and the next cursor is %q", n, len(page), next)
		}
	}
}

// The pages of a list have every row once, and say which rows they show.
func TestPagesOfAListHaveEveryRowOnce(t *testing.T) {
	t.Parallel()
	list := []string{"a", "b", "c", "d", "e"}
	own := func(s *string) string { return *s }
	var seen []string
	path := "/list"
	for range 3 {
		rows, at := web.PageOf(get(path), list, 2, own)
		if at.Total != 5 || at.From != len(seen)+1 || at.To != len(seen)+len(rows) || (at.First == "") != (len(seen) == 0) {
			t.Errorf("%s shows %v at %+v", path, rows, at)
		}
		seen = append(seen, rows...)
		path = at.Next
	}
	if len(seen) != 5 || path != "" {
		t.Errorf("the pages have %v, and then comes %q", seen, path)
	}
	if rows, at := web.PageOf(get("/list?after=gone"), list, 2, own); rows[0] != "a" || at.First != "" {
		t.Errorf("a row that is gone leads to %v at %+v", rows, at)
	}
	if rows, at := web.PageOf(get("/list"), nil, 2, own); len(rows) != 0 || at.Links != (web.Links{}) {
		t.Errorf("an empty list shows %v at %+v", rows, at)
	}
}
