package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"
)

// cursorParam is the query parameter that says after which row a page starts.
const cursorParam = "after"

// Cursor returns the cursor of the page that is requested; "" is the first page.
func Cursor(r *http.Request) string { return r.URL.Query().Get(cursorParam) }

// CursorID returns the cursor of a list whose cursors are ids. A cursor that is
// not an id leads to the first page.
func CursorID(r *http.Request) uuid.UUID {
	id, err := uuid.Parse(Cursor(r))
	if err != nil {
		return uuid.Nil
	}
	return id
}

// IDCursor returns the cursor for an id; the zero id has none.
func IDCursor(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

// Links are the addresses of the pages around a page; "" where there is none.
type Links struct{ First, Next string }

// PageLinks returns the links of a page: to the first page, unless this is it,
// and to the page after the cursor next, unless that is empty. All other query
// parameters are kept. Current is the cursor that was used for this page, which
// is empty where the cursor of the request was not valid.
func PageLinks(r *http.Request, current, next string) Links {
	var l Links
	if current != "" {
		l.First = pageURL(r, "")
	}
	if next != "" {
		l.Next = pageURL(r, next)
	}
	return l
}

// pageURL returns the request's address with another cursor.
func pageURL(r *http.Request, cursor string) string {
	q := r.URL.Query()
	q.Del(cursorParam)
	if cursor != "" {
		q.Set(cursorParam, cursor)
	}
	return (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
}

// CutPage cuts rows, of which one more than size was read, to one page. Next is
// the cursor of the next page, or "" if the row too many is missing.
func CutPage[T any](rows []T, size int, id func(*T) string) (page []T, next string) {
	if len(rows) <= size {
		return rows, ""
	}
	return rows[:size], id(&rows[size-1])
}

// Window is the part of a list that a page shows: rows From to To, counted from
// 1, of Total.
type Window struct {
	Links

	From, To, Total int
}

// PageOf returns the page of a list in memory that is requested. A cursor whose
// row is no longer in the list leads to the first page.
func PageOf[T any](r *http.Request, list []T, size int, id func(*T) string) ([]T, Window) {
	start, current := 0, Cursor(r)
	if current != "" {
		start = slices.IndexFunc(list, func(row T) bool { return id(&row) == current }) + 1
	}
	if start == 0 {
		current = ""
	}
	end, next := min(start+size, len(list)), ""
	if end < len(list) {
		next = id(&list[end-1])
	}
	return list[start:end], Window{Links: PageLinks(r, current, next), From: start + 1, To: end, Total: len(list)}
}
