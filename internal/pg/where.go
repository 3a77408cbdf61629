package pg

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Where is the condition of a query that is put together from what somebody asks
// for. What is asked for never becomes a part of the text: it is an argument.
type Where struct {
	Args       []any
	conditions []string
}

// Add adds a condition, in which each ? stands for the next of the values.
func (w *Where) Add(condition string, values ...any) {
	w.conditions = append(w.conditions, w.Fill(condition, values...))
}

// Fill writes the places of values into a text that is no condition.
func (w *Where) Fill(text string, values ...any) string {
	for _, v := range values {
		w.Args = append(w.Args, v)
		text = strings.Replace(text, "?", "$"+strconv.Itoa(len(w.Args)), 1)
	}
	return text
}

// String is the condition: all that were added, or what always holds.
func (w *Where) String() string {
	if len(w.conditions) == 0 {
		return "true"
	}
	return strings.Join(w.conditions, " AND ")
}

// Behind adds the condition that a row stands behind a place in an order. The
// place has a value for each that the order has.
func (w *Where) Behind(order []string, place []any, descending bool) {
	w.Add("("+strings.Join(order, ", ")+")"+Way(descending)+"("+strings.Repeat("?, ", len(place)-1)+"?)", place...)
}

// Way is how what stands behind compares with what stands before.
func Way(descending bool) string {
	if descending {
		return " < "
	}
	return " > "
}

// OrderBy is the order of a query, all of it in one direction.
func OrderBy(order []string, descending bool) string {
	if descending {
		return strings.Join(order, " DESC, ") + " DESC"
	}
	return strings.Join(order, ", ")
}

// Cursor is the row behind which a page goes on, and what of the row's place in
// the order can change until then.
type Cursor struct {
	Held int64
	ID   uuid.UUID
}

// String writes a cursor, and [ParseCursor] reads it.
func (c Cursor) String() string { return strconv.FormatInt(c.Held, 10) + "." + c.ID.String() }

// mostHeld is more than a cursor holds, and still a time to the database if it is
// taken for one.
const mostHeld = 1 << 58

// ParseCursor reads a cursor; ok is false for what is none.
func ParseCursor(text string) (c Cursor, ok bool) {
	held, id, _ := strings.Cut(text, ".")
	var wrong, none error
	c.Held, wrong = strconv.ParseInt(held, 10, 64)
	c.ID, none = uuid.Parse(id)
	if wrong != nil || none != nil || len(id) != 36 || c.Held < 0 || c.Held > mostHeld {
		return Cursor{}, false
	}
	return c, true
}
