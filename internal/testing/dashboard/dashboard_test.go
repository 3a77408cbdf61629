package dashboard_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/dashboard"
)

var update = flag.Bool("update", false, "write the dashboards")

// The files that operators import are those of the tables.
func TestDashboardsAreFresh(t *testing.T) {
	t.Parallel()
	for _, d := range dashboard.All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("../../../deploy/grafana", d.ID+".json")
		if *update {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(file); err != nil || !bytes.Equal(stored, text) {
			t.Errorf("%s is not the dashboard of the table; run make generate: %v", file, err)
		}
	}
}

// Each panel has a title of its own on its dashboard, a question and a query; an operator who
// looks for why reads what the panel answers.
func TestPanelsAnswerQuestions(t *testing.T) {
	t.Parallel()
	for _, d := range dashboard.All() {
		titles := map[string]bool{}
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				if titles[p.Title] || p.Title == "" || len(p.Series) == 0 || p.Question == "" || p.Kind == dashboard.Value && len(p.Series) != 1 {
					t.Errorf("%s: the panel %q stands twice, or has no question, no query, or too many for one figure", d.ID, p.Title)
				}
				titles[p.Title] = true
			}
		}
	}
}
