package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

func (a *app) documentsCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that every document has its file and every file its document",
		Long: `Compares every record with its file and every file with its record. With --deep every file is read completely and
compared with the hash recorded at its upload. The service may keep running.

Prints the totals and what was found. A document whose file is missing or differs from the upload must be restored
from a backup, and the exit code is 6. A file without a document is left over from an interrupted upload or from a
deletion; the service removes it within two days, and it is not a problem.`,
		Example: `  lineproof documents check
  lineproof documents check --deep --json`,
		Args: cobra.NoArgs,
	}
	deep := cmd.Flags().Bool("deep", false, "read every file and compare its content")
	limit := cmd.Flags().Int("limit", 100, "maximum number of findings to print; all are counted")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.onDocuments(func(cmd *cobra.Command, _ []string, _ *backend.Backend, docs *document.Store) error {
		r := documentReport{Found: []documentFinding{}}
		display := a.NewCounter()
		totals, err := docs.Check(cmd.Context(), *deep, func(p document.Problem) { r.add(p, *limit) },
			func(done, total int) { display.Items("checking", done, total) })
		display.End()
		if err != nil {
			return err
		}
		r.Documents, r.Files, r.Bytes = totals.Records, totals.Files, totals.Bytes
		if err := a.Print(*asJSON, r, r.rows()...); err != nil {
			return err
		}
		if r.Damaged > 0 {
			return console.ErrProblems
		}
		return nil
	})
	return cmd
}

// documentReport is the result of a check, as printed with --json.
type documentReport struct {
	Documents int               `json:"documents"`
	Files     int               `json:"files"`
	Bytes     int64             `json:"bytes"`
	Damaged   int               `json:"damaged"`
	LeftOver  int               `json:"leftOver"`
	Found     []documentFinding `json:"found"`
}

type documentFinding struct {
	Document string `json:"documentId"`
	Problem  string `json:"problem"`
}

// damageTexts describes the problems that need a restore from a backup.
var damageTexts = map[string]string{
	document.ProblemMissing: "the file is missing; restore it from a backup",
	document.ProblemSize:    "the size of the file differs from the upload; restore it from a backup",
	document.ProblemContent: "the content of the file differs from the upload; restore it from a backup",
}

// leftOverTexts describes the files that the service removes by itself.
var leftOverTexts = map[string]string{
	document.ProblemStray:   "a file without a document; the service removes it",
	document.ProblemDeleted: "the file of a deleted document; the service removes it",
}

func (r *documentReport) add(p document.Problem, limit int) {
	if damageTexts[p.Kind] != "" {
		r.Damaged++
	} else {
		r.LeftOver++
	}
	if len(r.Found) < limit {
		r.Found = append(r.Found, documentFinding{p.Document.String(), p.Kind})
	}
}

func (r *documentReport) rows() [][]string {
	rows := [][]string{
		{"documents", strconv.Itoa(r.Documents)},
		{"files", strconv.Itoa(r.Files)},
		{"bytes", strconv.FormatInt(r.Bytes, 10)},
		{"damaged", strconv.Itoa(r.Damaged)},
		{"left over", strconv.Itoa(r.LeftOver)},
	}
	for _, f := range r.Found {
		rows = append(rows, []string{f.Document, damageTexts[f.Problem] + leftOverTexts[f.Problem]})
	}
	return rows
}
