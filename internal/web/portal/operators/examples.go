package operators

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// exampleGroups returns examples of what a held file would change, what ends first. Staff
// see numbers by their last two digits.
func (s Supply) exampleGroups(r *http.Request, im *supply.Import) ([]ExampleGroup, error) {
	if im.State != supply.Held {
		return nil, nil
	}
	list, err := filerows.FindExamples(r.Context(), s.Pool, im.Key())
	if err != nil {
		return nil, err
	}
	staff := portal.VisitOf(r).Has(portal.Staff)
	var groups []ExampleGroup
	for _, kind := range []struct {
		name, title string
		of          int64
	}{
		{filerows.Ended, "Lines that end", im.Counts.Ended},
		{filerows.Changed, "Lines that change", im.Counts.Changed},
		{filerows.Added, "New lines", im.Counts.Added},
	} {
		g := ExampleGroup{Title: kind.title, Of: kind.of}
		for _, e := range list {
			if e.Kind != kind.name {
				continue
			}
			if staff {
				e.Number = lastDigits(e.Number)
			}
			g.Rows = append(g.Rows, ExampleRow{Number: e.Number, Before: e.Before, After: e.After})
		}
		if len(g.Rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}
