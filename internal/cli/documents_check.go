package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/document"
)

func (a *app) documentsCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that every document has its file, and every file its document",
		Long: `Compares every record with its file and every file with its record. With --deep every file is read to its end and
compared with the hash that was kept at its upload. The service may run meanwhile.

Prints how much there is, and what was found. A document whose file is missing, or is not what was uploaded, has to be
restored from a backup, and the exit code is 6. A file without a document is left over from an upload that was cut off,
or from a deletion; the service removes it within a day or two, and it is no trouble.`,
		Example: `  lineproof documents check
  lineproof documents check --deep --json`,
		Args: cobra.NoArgs,
	}
	deep := cmd.Flags().Bool("deep", false, "read every file and compare its content")
	limit := cmd.Flags().Int("limit", 100, "print so many findings; all are counted")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDocuments(func(cmd *cobra.Command, _ []string, _ *parts, docs *document.Store) error {
		r := documentReport{Found: []documentFinding{}}
		display := a.newCount()
		tally, err := docs.Check(cmd.Context(), *deep, func(p document.Problem) { r.add(p, *limit) },
			func(done, total int) { display.of("checking", done, total) })
		display.end()
		if err != nil {
			return err
		}
		r.Documents, r.Files, r.Bytes = tally.Records, tally.Files, tally.Bytes
		if err := a.print(*asJSON, r, r.rows()...); err != nil {
			return err
		}
		if r.Damaged > 0 {
			return errTrouble
		}
		return nil
	})
	return cmd
}

// documentReport is what a check found, as programs read it.
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

// damages are the problems that do not go away by themselves, with what they
// mean.
var damages = map[string]string{
	document.ProblemMissing: "the file is missing; restore it from a backup",
	document.ProblemSize:    "the file has another size than was uploaded; restore it from a backup",
	document.ProblemContent: "the file has other content than was uploaded; restore it from a backup",
}

var leftOvers = map[string]string{
	document.ProblemStray:   "a file without a document; the service removes it",
	document.ProblemDeleted: "the file of a document that was deleted; the service removes it",
}

func (r *documentReport) add(p document.Problem, limit int) {
	if damages[p.Kind] != "" {
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
		rows = append(rows, []string{f.Document, damages[f.Problem] + leftOvers[f.Problem]})
	}
	return rows
}
