package kit

import (
	"maps"
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// Page is the layout data of a page. A handler fills in the first part; the
// portal fills in the rest.
type Page struct {
	Title   string // the heading, and the title of the browser tab
	Lead    string // one sentence below the heading; "" for none
	Active  string // the path of the menu entry to highlight; "" for the path of the request
	Crumbs  []Link // the pages above this one
	Actions []Action
	Script  string // the asset with a script of this page alone; "" for none
	Refresh string // address to which the browser goes on automatically, even without scripts; "" for none

	Service string // the name of the service
	Who     *Who   // nil for a visitor who is not signed in
	Menu    []MenuGroup
	Theme   string // light, dark, or "" for the setting of the system
	Flash   *Flash
	Banner  *Banner
	Path    string // of the request
}

// Who is the signed-in visitor.
type Who struct {
	Name, Email  string
	Organisation string // the entity's name, or the regulator's
	Role         string // in words
	Limited      bool   // has to set up two-factor authentication first
}

// Flash is a message about the result of the last action.
type Flash struct {
	Tone Tone
	Text string
}

// Banner is what all pages of a visitor show first until it is over.
type Banner struct {
	Tone        Tone
	Title, Text string
	Link        Link // the zero Link for none
}

// Link is a link with a label.
type Link struct{ Label, Href string }

// Action is a link button at the top of a page.
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
	Count       int // of things that wait behind it; 0 for none
}

// Kind is the emphasis of a button.
type Kind string

// The kinds of button.
const (
	Primary   Kind = "primary"
	Secondary Kind = "secondary"
	Danger    Kind = "danger"
	Quiet     Kind = "quiet"
)

// Tone is the meaning of a status or message, shown as a colour beside its words.
type Tone string

// The tones.
const (
	Neutral Tone = "neutral"
	Info    Tone = "info"
	Good    Tone = "good"
	Warn    Tone = "warn"
	Bad     Tone = "bad"
)

// Form has the input of the visitor, with its errors. The zero Form is empty and has
// no errors.
type Form struct {
	Values  url.Values
	Message string            // about the whole form; "" for none
	Errors  map[string]string // by field
	Order   []string          // the fields of Errors, in the order in which they were found
}

// Value returns what was typed into a field.
func (f Form) Value(name string) string { return f.Values.Get(name) }

// Error returns the error of a field, or "".
func (f Form) Error(name string) string { return f.Errors[name] }

// Wrong reports whether the form has errors.
func (f Form) Wrong() bool { return f.Message != "" || len(f.Errors) > 0 }

// With returns a copy of the form with an initial value for a field that the
// visitor has not filled in.
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
	Type         string // of the input; "" for text. A password that was typed is never shown again
	Hint         string
	Placeholder  string
	Autocomplete string // as HTML spells it; "" for off
	InputMode    string
	Required     bool
	Depends      bool // whether it is required depends on other fields, so it is not labelled optional
	Autofocus    bool
	Long         bool // several lines
	Mono         bool
	Max          int // characters; 0 for no limit
	Value        string
	Accept       string // for files
}

// Option is one of the values that a field can have.
type Option struct {
	Value, Label, Hint string
	Disabled           bool // shown, and cannot be chosen
}

// HeadCell is the header of a column.
type HeadCell struct {
	Label  string
	Number bool   // the column has numbers, aligned right
	Wide   bool   // the column has sentences
	Sort   string // address that sorts by this column; "" if it is not sortable
	Sorted string // ascending or descending, if the rows are sorted by it
	Hidden bool   // for screen readers only; a column of buttons needs no visible header
}

// Heads returns the header of a sortable column. The nil Heads returns headers
// without sorting.
type Heads func(label, column string) HeadCell

// Column returns the header of a column. It sorts by the column if h is not nil.
func (h Heads) Column(label, column string) HeadCell {
	if h == nil {
		return HeadCell{Label: label}
	}
	return h(label, column)
}

// Row is a row of a table.
type Row struct {
	Cells []templ.Component
	Faint bool // shown faintly, because it is no longer active: revoked, ended
}

// TableData is a table with everything around it.
type TableData struct {
	Caption string // for screen readers only
	Heads   []HeadCell
	Rows    []Row
	Empty   templ.Component // shown if there are no rows; see EmptyState
	First   string          // address of the first page; "" on the first page
	Next    string          // address of the next page; "" on the last page
	Note    string          // text beside the pager, such as the number of entries
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

// ConfirmData is the confirmation of an action that cannot be undone.
type ConfirmData struct {
	Title  string // of the page
	Crumbs []Link // the pages above it
	Text   string // what will happen
	Action string // where the form is posted; "" for the address of the page
	Label  string // of the button
	Kind   Kind
	Cancel string // address of the cancel button
	// Word is what the visitor has to type, such as a name; "" for nothing. It is
	// posted as "confirm", and the handler compares it.
	Word   string
	Reason bool // asks for a reason, posted as "reason"
	Form   Form
	Extra  templ.Component // more fields; nil for none
}

// TimelineEntry is an entry of a timeline.
type TimelineEntry struct {
	At    time.Time
	Title string
	Tone  Tone
	Body  templ.Component // nil for nothing more
}

// ChartData is a chart of stacked bars.
type ChartData struct {
	Title   string
	Unit    string   // unit of the values
	None    string   // text shown if all values are 0
	Series  []string // their names
	Colours []int    // for each of the series, 0 to 5; nil for one after the other
	Classes []string // for each of the series, the class of its colour, instead of Colours; nil for none
	Rest    bool     // the last series is the remainder up to a total, and is drawn faintly
	Bars    []Bar
}

// NoData is the value of a bar without data: no bar is drawn, and the table does
// not show 0.
const NoData = -1

// Bar is one bar: a value for each of the series.
type Bar struct {
	Label  string
	Values []int64
}
