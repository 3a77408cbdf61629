package lines

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/linestore"
)

func (c *commands) impactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "impact", Short: "List past answers that a correction would have changed", Args: cobra.NoArgs,
		Long: `Lists past answers that would have been different if a report had been known at the time, and the organisations that
received them. The report is one that came late, or one that withdraws or restates another. Give the event, the
imported file, or the time in which events were reported.

Everything that an answer said is compared: status, network, signals, changedSince with its changes and knownThrough.
The journal is read in the database and in the archives.`,
		Example: `  lineproof lines impact --event 4711
  lineproof lines impact --import 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11
  lineproof lines impact --told-since 2026-11-01`,
	}
	event := cmd.Flags().Int64("event", 0, "number of the event in the history of its line")
	file := cmd.Flags().String("import", "", "ID of the imported file")
	from := cmd.Flags().String("told-since", "", "events that were reported since this time")
	to := cmd.Flags().String("told-before", "", "events that were reported before this time (default: now)")
	cmd.MarkFlagsMutuallyExclusive("event", "import", "told-since")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = c.Run(func(cmd *cobra.Command, _ []string) error {
		correction, err := parseCorrection(*event, *file, *from, *to)
		if err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), c.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		files, err := b.Archive()
		if err != nil {
			return err
		}
		defer files.Close()
		display := c.NewProgress(-1)
		finder := &verify.ImpactFinder{
			Pool: b.Pool, Files: files, Lines: &linestore.Resolver{}, OnProgress: func(records int64) { display.Rows("reading the journal", records) },
		}
		found, err := finder.Find(cmd.Context(), correction)
		display.End()
		if err != nil {
			return err
		}
		return c.printImpact(&found, *asJSON)
	})
	return cmd
}

func parseCorrection(event int64, file, from, to string) (c verify.Correction, err error) {
	c = verify.Correction{Seq: event, To: time.Now()}
	if file != "" {
		if c.Import, err = parseImportID(file); err != nil {
			return c, err
		}
	}
	if c.From, err = console.ParseTime("told-since", from); err != nil {
		return c, err
	}
	if to != "" {
		if c.To, err = console.ParseTime("told-before", to); err != nil {
			return c, err
		}
	}
	if event == 0 && file == "" && c.From.IsZero() {
		return c, console.Usagef("the event is missing: give --event N, --import ID or --told-since T")
	}
	return c, nil
}

// differenceJSON is a past answer that would have been different, as printed with
// --json.
type differenceJSON struct {
	RequestID uuid.UUID       `json:"requestId"`
	At        string          `json:"at"`
	Entity    uuid.UUID       `json:"entityUid"`
	Key       uuid.UUID       `json:"keyId"`
	Options   string          `json:"options"`
	Differs   []string        `json:"differs"`
	Said      string          `json:"said"`
	WouldSay  string          `json:"wouldSay"`
	More      json.RawMessage `json:"saidMore,omitempty"` // the other members, as the caller got them
	WouldMore json.RawMessage `json:"wouldSayMore,omitempty"`
}

func (c *commands) printImpact(found *verify.ImpactResult, asJSON bool) error {
	if found.NotDerivable > 0 {
		c.Note("%d past answers about these numbers cannot be computed again, and were not compared. lineproof journal get says why.", found.NotDerivable)
	}
	if len(found.Differences) == 0 && !asJSON {
		c.Note("No past answer would have been different.")
		return nil
	}
	return console.List(c.Console, asJSON, found.Differences, newDifferenceJSON,
		"REQUEST, AT, ENTITY, ANSWER, WOULD BE, DIFFERENCE", func(d *differenceJSON) []any {
			return []any{d.RequestID, d.At, d.Entity, d.Said, d.WouldSay, strings.Join(d.Differs, ", ")}
		})
}

func newDifferenceJSON(d *verify.Difference) differenceJSON {
	return differenceJSON{
		RequestID: d.RequestID, At: console.FormatTime(d.At), Entity: d.Entity, Key: d.Key, Options: d.Options, Differs: d.Parts,
		Said: d.Answered.String(), WouldSay: d.Recomputed.String(), More: json.RawMessage(d.Answered.Extra), WouldMore: json.RawMessage(d.Recomputed.Extra),
	}
}
