package portal

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Order is the column by which a table is sorted, and the direction. It is in the
// address as sort and dir, so that paging and links keep it.
type Order struct {
	r          *http.Request
	Column     string // "" for the default order of the page
	Descending bool
}

// ReadOrder reads by which of the columns a table is to be sorted. An unknown
// column means the default order.
func ReadOrder(r *http.Request, columns ...string) Order {
	o, q := Order{r: r}, r.URL.Query()
	if column := q.Get("sort"); slices.Contains(columns, column) {
		o.Column, o.Descending = column, q.Get("dir") == "desc"
	}
	return o
}

// Head returns the head of a sortable column. Its link sorts by the column, or
// reverses the direction if the table is sorted by it already. It drops the
// cursor, which belongs to the old order.
func (o Order) Head(label, column string) kit.HeadCell {
	q := o.r.URL.Query()
	q.Del("after")
	q.Del("dir")
	q.Set("sort", column)
	cell := kit.HeadCell{Label: label}
	if o.Column == column {
		cell.Sorted = "descending"
		if !o.Descending {
			cell.Sorted = "ascending"
			q.Set("dir", "desc")
		}
	}
	cell.Sort = (&url.URL{Path: o.r.URL.Path, RawQuery: q.Encode()}).String()
	return cell
}

// SortRows sorts rows by the column of the order. Equal rows keep their places.
func SortRows[T any](o Order, rows []T, by map[string]func(a, b *T) int) {
	compare, ok := by[o.Column]
	if !ok {
		return
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		if o.Descending {
			return compare(&b, &a)
		}
		return compare(&a, &b)
	})
}

// Column is a column of a table whose rows are all in memory.
type Column[T any] struct {
	Label   string
	Number  bool
	Key     string // its name in the address; "" if the table cannot be sorted by it
	Compare func(a, b *T) int
}

// SortTable sorts rows by the column that the request names, and returns the
// heads of the table.
func SortTable[T any](r *http.Request, rows []T, columns []Column[T]) []kit.HeadCell {
	by := map[string]func(a, b *T) int{}
	for _, c := range columns {
		if c.Key != "" {
			by[c.Key] = c.Compare
		}
	}
	o := ReadOrder(r, slices.Collect(maps.Keys(by))...)
	SortRows(o, rows, by)
	heads := make([]kit.HeadCell, len(columns))
	for i, c := range columns {
		heads[i].Label = c.Label
		if c.Key != "" {
			heads[i] = o.Head(c.Label, c.Key)
		}
		heads[i].Number = c.Number
	}
	return heads
}

// CompareText compares names without regard to case.
func CompareText(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }

// CompareBools puts false before true.
func CompareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
