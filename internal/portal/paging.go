package portal

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// pages is where the pages around one are.
type pages struct{ first, next, note string }

// pageOf returns the part of a list that a request asks for: what stands behind
// the row that it names as "after". A row that is not there any more leads to
// the beginning.
func pageOf[T any](r *http.Request, list []T, size int, id func(*T) string) ([]T, pages) {
	begin := 0
	if after := r.URL.Query().Get("after"); after != "" {
		begin = slices.IndexFunc(list, func(row T) bool { return id(&row) == after }) + 1
	}
	end := min(begin+size, len(list))
	var at pages
	if begin > 0 {
		at.first = pageAfter(r, "")
	}
	if end < len(list) {
		at.next = pageAfter(r, id(&list[end-1]))
	}
	if len(list) > size {
		at.note = view.Count(int64(begin+1)) + " to " + view.Count(int64(end)) + " of " + view.Count(int64(len(list)))
	}
	return list[begin:end], at
}

// pageAfter returns the address of the page that begins behind a row, with all
// else that the request says; "" is the first.
func pageAfter(r *http.Request, after string) string {
	q := r.URL.Query()
	q.Del("after")
	if after != "" {
		q.Set("after", after)
	}
	return (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
}
