package pg

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Where builds the WHERE condition of a query from a caller's filters. Values
// never become part of the SQL text: they are arguments.
type Where struct {
	Args       []any
	conditions []string
}

// Add adds a condition. Each ? in it is a placeholder for the next of values.
func (w *Where) Add(condition string, values ...any) {
	w.conditions = append(w.conditions, w.Bind(condition, values...))
}

// Bind replaces each ? of an SQL text other than a condition by the numbered
// placeholder of the next of values, and adds them to Args.
func (w *Where) Bind(text string, values ...any) string {
	for _, v := range values {
		w.Args = append(w.Args, v)
		text = strings.Replace(text, "?", "$"+strconv.Itoa(len(w.Args)), 1)
	}
	return text
}

// String returns the conditions joined by AND, or "true" if there are none.
func (w *Where) String() string {
	if len(w.conditions) == 0 {
		return "true"
	}
	return strings.Join(w.conditions, " AND ")
}

// After adds the condition that a row comes after the row of a cursor. order
// has the sort expressions, and values the cursor row's value of each.
func (w *Where) After(order []string, values []any, descending bool) {
	w.Add("("+strings.Join(order, ", ")+")"+AfterOperator(descending)+"("+strings.Repeat("?, ", len(values)-1)+"?)", values...)
}

// AfterOperator returns the operator that compares a row with an earlier row in
// the sort order.
func AfterOperator(descending bool) string {
	if descending {
		return " < "
	}
	return " > "
}

// OrderBy returns the ORDER BY list of a query, all of it in one direction.
func OrderBy(order []string, descending bool) string {
	if descending {
		return strings.Join(order, " DESC, ") + " DESC"
	}
	return strings.Join(order, ", ")
}

// Cursor identifies the last row of a page. Held is the row's sort value at that
// time, for orders by a value that can change before the next page is requested.
type Cursor struct {
	SortKey int64
	ID      uuid.UUID
}

// String writes a cursor, and [ParseCursor] reads it.
func (c Cursor) String() string { return strconv.FormatInt(c.SortKey, 10) + "." + c.ID.String() }

// maxHeld is larger than any sort value and, as microseconds since 1970, still a
// time that PostgreSQL accepts.
const maxHeld = 1 << 58

// ParseCursor reads a cursor; ok is false if text is not one.
func ParseCursor(text string) (c Cursor, ok bool) {
	held, id, _ := strings.Cut(text, ".")
	var heldErr, idErr error
	c.SortKey, heldErr = strconv.ParseInt(held, 10, 64)
	c.ID, idErr = uuid.Parse(id)
	if heldErr != nil || idErr != nil || len(id) != 36 || c.SortKey < 0 || c.SortKey > maxHeld {
		return Cursor{}, false
	}
	return c, true
}
