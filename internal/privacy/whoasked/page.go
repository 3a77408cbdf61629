package whoasked

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/lineproof/lineproof/internal/values/fault"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Letter is the text of the printed page around the report.
type Letter struct {
	From    string // the name of the regulator
	Contact string // whom the person can ask: an address, a phone number
}

// organisationRows is the rows of one organisation, for its part of the page.
type organisationRows struct {
	Name    string
	Answers int
	Rows    []Row
}

// byOrganisation groups the rows, which are sorted by organisation. Two organisations of
// one name share a part of the page: the person could not tell them apart.
func (r *Report) byOrganisation() (list []organisationRows) {
	for _, row := range r.Rows {
		if n := len(list); n == 0 || list[n-1].Name != row.Organisation {
			list = append(list, organisationRows{Name: row.Organisation})
		}
		last := &list[len(list)-1]
		last.Rows, last.Answers = append(last.Rows, row), last.Answers+row.Answers
	}
	return list
}

// WriteHTML writes the report as a page to print: one file without scripts or anything
// that it would have to load.
func (r *Report) WriteHTML(w io.Writer, l Letter) error {
	err := page.Execute(w, map[string]any{
		"Report": r, "Letter": l, "Organisations": r.byOrganisation(), "Meanings": r.meanings(), "Made": r.MadeAt.Format("2 January 2006, 15:04 UTC"),
	})
	return fault.Wrap(err, "whoasked: write the page")
}
