package view

import (
	"maps"
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// Page is the frame around what a page shows. A handler fills in the first
// part; the portal does the rest.
type Page struct {
	Title   string // the heading, and the name of the tab
	Lead    string // one sentence below the heading; "" for none
	Active  string // the path in the menu that the page belongs to; "" for the request's own
	Crumbs  []Link // the pages above this one
	Actions []Action
	Refresh string // an address to which the browser goes on by itself, without scripts, too; "" for none

	Service string // what the portal calls itself
	Who     *Who   // nil for somebody who is not signed in
	Menu    []MenuGroup
	Theme   string // light, dark, or "" for what the browser prefers
	Flash   *Flash
	Path    string // of the request
}

// Who is the person for whom a page is made.
type Who struct {
	Name, Email  string
	Organisation string // the entity's name, or the regulator's
	Role         string // in words
	Limited      bool   // has to set up a second factor first
}

// Flash is a message about what was just done.
type Flash struct {
	Tone Tone
	Text string
}

// Link is a place to go to.
type Link struct{ Label, Href string }

// Action is a button at the top of a page that leads somewhere.
type Action struct {
	Label, Href string
	Kind        Kind
}

// MenuGroup is a part of the menu.
type MenuGroup struct {
	Label string
	Items []MenuItem
}

// MenuItem is an entry of the menu.
type MenuItem struct {
	Label, Href string
	Active      bool
}

// Kind is how loud a button is.
type Kind string

// The kinds of button.
const (
	Primary   Kind = "primary"
	Secondary Kind = "secondary"
	Danger    Kind = "danger"
	Quiet     Kind = "quiet"
)

// Tone is what a status or a message means, beside its words.
type Tone string

// The tones.
const (
	Neutral Tone = "neutral"
	Info    Tone = "info"
	Good    Tone = "good"
	Warn    Tone = "warn"
	Bad     Tone = "bad"
)

// Form is what somebody has typed, and what is wrong with it. The zero Form is
// an empty one without complaints.
type Form struct {
	Values  url.Values
	Message string            // about the whole of it; "" for none
	Errors  map[string]string // by field
	Order   []string          // the fields of Errors, in the order in which they were found
}

// Value returns what was typed into a field.
func (f Form) Value(name string) string { return f.Values.Get(name) }

// Error returns what is wrong with a field, or "".
func (f Form) Error(name string) string { return f.Errors[name] }

// Wrong reports whether anything is wrong.
func (f Form) Wrong() bool { return f.Message != "" || len(f.Errors) > 0 }

// With returns a copy of the form in which a field holds a value, for forms
// that begin with something.
func (f Form) With(name, value string) Form {
	values := url.Values{}
	maps.Copy(values, f.Values)
	if !values.Has(name) {
		values.Set(name, value)
	}
	f.Values = values
	return f
}

// FieldData describes a field of a form.
type FieldData struct {
	Name, Label  string
	Type         string // of the input; "" for text. What is typed into a password is never shown again
	Hint         string
	Placeholder  string
	Autocomplete string // as HTML spells it; "" for off
	InputMode    string
	Required     bool
	Depends      bool // it is needed or not by what stands elsewhere, and not called optional
	Autofocus    bool
	Long         bool // several lines
	Mono         bool
	Max          int // characters; 0 for no limit
	Value        string
	Accept       string // for files
}

// Option is one of the values that a field can have.
type Option struct{ Value, Label, Hint string }

// HeadCell is the head of a column.
type HeadCell struct {
	Label  string
	Number bool   // the column holds numbers, which stand at its right
	Sort   string // where a click on the head leads; "" for a column that cannot be sorted by
	Sorted string // ascending or descending, if the rows are sorted by it
	Hidden bool   // for eyes; a column of buttons needs no heading
}

// Heads makes the head of a column that can be sorted by. The nil Heads makes
// heads that are text and nothing else.
type Heads func(label, column string) HeadCell

func (h Heads) of(label, column string) HeadCell {
	if h == nil {
		return HeadCell{Label: label}
	}
	return h(label, column)
}

// Row is a row of a table.
type Row struct {
	Cells []templ.Component
	Faint bool // for what is over: revoked, ended
}

// TableData is a table with everything around it.
type TableData struct {
	Caption string // what the table holds; read out, not shown
	Heads   []HeadCell
	Rows    []Row
	Empty   templ.Component // what stands in the place of no rows; see EmptyState
	First   string          // where the first page is; "" on it
	Next    string          // where the next page is; "" on the last
	Note    string          // beside the pager, such as how many there are
}

// Term is a line of a description list.
type Term struct {
	Label string
	Value templ.Component
}

// Tab is one of several pages about one thing.
type Tab struct {
	Label, Href string
	Active      bool
}

// ConfirmData is a question before something that cannot be undone.
type ConfirmData struct {
	Text   string // what will happen
	Action string // where the answer is posted
	Label  string // of the button
	Kind   Kind
	Cancel string // where a change of mind leads
	// Word is what has to be typed, such as a name; "" asks for nothing. It is
	// posted as "confirm", and the handler compares it.
	Word   string
	Reason bool // asks for a reason, posted as "reason"
	Form   Form
	Extra  templ.Component // more fields; nil for none
}

// Moment is a point on a timeline.
type Moment struct {
	At    time.Time
	Title string
	Tone  Tone
	Body  templ.Component // nil for nothing more
}

// ChartData is a chart of stacked bars.
type ChartData struct {
	Title   string
	Unit    string   // what is counted
	None    string   // what stands there when nothing was
	Series  []string // their names; at most six
	Colours []int    // for each of the series, 0 to 5; nil for one after the other
	Rest    bool     // the last of the series is what the others lack, and is drawn faintly
	Bars    []Bar
}

// NotKept is the value of a bar of which nothing was kept: it is not drawn, and
// not said to be 0.
const NotKept = -1

// Bar is one bar: a value for each of the series.
type Bar struct {
	Label  string
	Values []int64
}
