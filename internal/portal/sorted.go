package portal

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// order is the column by which the rows of a table stand, and which way round.
// It lies in the address, as sort and dir, so that pages and links keep it.
type order struct {
	r      *http.Request
	column string // "" for the order that the page has by itself
	desc   bool
}

// orderOf reads by which of the columns somebody wants a table. A column that
// there is not is none.
func orderOf(r *http.Request, columns ...string) order {
	o, q := order{r: r}, r.URL.Query()
	if column := q.Get("sort"); slices.Contains(columns, column) {
		o.column, o.desc = column, q.Get("dir") == "desc"
	}
	return o
}

// head is the head of a column that can be sorted by. A click on the one by
// which the rows stand turns them round; a cursor of another order is dropped.
func (o order) head(label, column string) view.HeadCell {
	q := o.r.URL.Query()
	q.Del("after")
	q.Del("dir")
	q.Set("sort", column)
	cell := view.HeadCell{Label: label}
	if o.column == column {
		cell.Sorted = "descending"
		if !o.desc {
			cell.Sorted = "ascending"
			q.Set("dir", "desc")
		}
	}
	cell.Sort = (&url.URL{Path: o.r.URL.Path, RawQuery: q.Encode()}).String()
	return cell
}

// arrange puts rows into an order. Rows that are alike stay as they stood.
func arrange[T any](o order, rows []T, by map[string]func(a, b *T) int) {
	compare, ok := by[o.column]
	if !ok {
		return
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		if o.desc {
			return compare(&b, &a)
		}
		return compare(&a, &b)
	})
}

// column is a column of a list that is held in memory.
type column[T any] struct {
	label   string
	number  bool
	key     string // as the address names it; "" for one by which nobody sorts
	compare func(a, b *T) int
}

// inOrder arranges a list by the column that the request names, and returns the
// heads of the table.
func inOrder[T any](r *http.Request, list []T, columns []column[T]) []view.HeadCell {
	by := map[string]func(a, b *T) int{}
	for _, c := range columns {
		if c.key != "" {
			by[c.key] = c.compare
		}
	}
	o := orderOf(r, slices.Collect(maps.Keys(by))...)
	arrange(o, list, by)
	heads := make([]view.HeadCell, len(columns))
	for i, c := range columns {
		heads[i].Label = c.label
		if c.key != "" {
			heads[i] = o.head(c.label, c.key)
		}
		heads[i].Number = c.number
	}
	return heads
}

// byText compares names without regard to case.
func byText(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
