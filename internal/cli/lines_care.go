package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/verify"
)

func (a *app) linesCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Replay every line from its events and compare", Args: cobra.NoArgs,
		Long: `Makes the row of every line anew from its baseline and its events, and compares it with the row by which
questions are answered. The service may run meanwhile. The exit code is 6 when a row differs.`,
		Example: "  lineproof lines check",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		display := a.newProgress(-1)
		found, err := line.Replay(cmd.Context(), p.pool, func(so line.Audit) { display.rows("checking", so.Lines) })
		display.end()
		if err != nil {
			return err
		}
		count := func(n int64) string { return strconv.FormatInt(n, 10) }
		err = a.print(*asJSON, map[string]int64{
			"lines": found.Lines, "replayed": found.Replayed, "events": found.Events, "wrong": found.Wrongs, "stray": found.Strayed,
		}, []string{"lines", count(found.Lines)}, []string{"replayed", count(found.Replayed)}, []string{"events", count(found.Events)},
			[]string{"wrong rows", count(found.Wrongs)}, []string{"stray events", count(found.Strayed)})
		if err != nil {
			return err
		}
		for _, n := range found.Wrong {
			a.note("The row of %s is not what its events make.", n.Masked())
		}
		if !found.OK() {
			return errTrouble
		}
		return nil
	})
	return cmd
}

// shownStanding is how an operator supplies, as programs read it.
type shownStanding struct {
	Network         string  `json:"network"`
	Name            string  `json:"name"`
	KnownSince      string  `json:"knownSince,omitempty"`
	CompleteSince   string  `json:"completeSince,omitempty"`
	SuppliedThrough string  `json:"suppliedThrough,omitempty"`
	Silent          bool    `json:"silent"`
	Lines           int64   `json:"lines"`
	Share           float64 `json:"share"`
	Accepted        int64   `json:"accepted"`
	Late            int64   `json:"late"`
	Refused         int64   `json:"refused"`
}

func (a *app) linesSupplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "supply", Short: "Show how far and how late each operator supplies", Args: cobra.NoArgs,
		Long: `Shows for each operator through when it has supplied, since when it is known, which share of its ranges has a
line, and what it told in the last thirty days: how much, how much of it late, how much was refused.`,
		Example: "  lineproof lines supply",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		list, err := p.desk.Standings(cmd.Context(), "", time.Now().AddDate(0, 0, -30))
		if err != nil {
			return err
		}
		shown := make([]shownStanding, 0, len(list))
		rows := [][]string{{"NETWORK", "SUPPLIED THROUGH", "KNOWN SINCE", "LINES", "SHARE", "EVENTS", "LATE", "REFUSED", ""}}
		for _, s := range list {
			v := showStanding(&s)
			shown = append(shown, v)
			silent := ""
			if v.Silent {
				silent = "silent"
			}
			rows = append(rows, []string{
				v.Network, v.SuppliedThrough, v.KnownSince, strconv.FormatInt(v.Lines, 10), fmt.Sprintf("%.1f %%", 100*v.Share),
				strconv.FormatInt(v.Accepted, 10), strconv.FormatInt(v.Late, 10), strconv.FormatInt(v.Refused, 10), silent,
			})
		}
		return a.print(*asJSON, shown, rows...)
	})
	return cmd
}

func showStanding(s *supply.Standing) shownStanding {
	v := shownStanding{
		Network: s.Network, Name: s.Name, KnownSince: moment(s.KnownSince), CompleteSince: moment(s.CompleteSince),
		SuppliedThrough: moment(s.SuppliedThrough), Silent: s.Silent, Lines: s.Lines, Refused: s.Refused,
	}
	if s.Capacity > 0 {
		v.Share = float64(s.Lines) / float64(s.Capacity)
	}
	for _, k := range s.Kinds {
		v.Accepted += k.Accepted
		v.Late += k.Late
	}
	return v
}

func (a *app) linesImpactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "impact", Short: "List past answers that a correction would have changed", Args: cobra.NoArgs,
		Long: `Lists the answers that would have been different, and who asked, had an event been known when they were given:
one that was told late, or one that withdraws another. Give the event, or the time in which events were told.`,
		Example: `  lineproof lines impact --event 4711
  lineproof lines impact --told-since 2026-11-01`,
	}
	event := cmd.Flags().Int64("event", 0, "the event, by the number that its history shows")
	from := cmd.Flags().String("told-since", "", "events that were told since this time")
	to := cmd.Flags().String("told-before", "", "and before this one (default: now)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		c := verify.Correction{Seq: *event, To: time.Now()}
		var err error
		if c.From, err = timeFlag("told-since", *from); err != nil {
			return err
		}
		if *to != "" {
			if c.To, err = timeFlag("told-before", *to); err != nil {
				return err
			}
		}
		if c.Seq == 0 && c.From.IsZero() {
			return usagef("say which event, or since when: --event N or --told-since T")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		list, err := verify.Impact(cmd.Context(), p.pool, &line.Almanac{}, c)
		if err != nil {
			return err
		}
		return a.printImpact(list, *asJSON)
	})
	return cmd
}

// shownDifference is a past answer that would have been another one.
type shownDifference struct {
	RequestID uuid.UUID `json:"requestId"`
	At        string    `json:"at"`
	Entity    uuid.UUID `json:"entityUid"`
	Key       uuid.UUID `json:"keyId"`
	Said      string    `json:"said"`
	WouldSay  string    `json:"wouldSay"`
}

func (a *app) printImpact(list []verify.Difference, asJSON bool) error {
	shown := make([]shownDifference, 0, len(list))
	rows := [][]string{{"REQUEST", "AT", "ENTITY", "SAID", "WOULD SAY"}}
	for _, d := range list {
		s := shownDifference{RequestID: d.RequestID, At: moment(d.At), Entity: d.Entity, Key: d.Key, Said: d.Said, WouldSay: d.WouldSay}
		shown = append(shown, s)
		rows = append(rows, []string{s.RequestID.String(), s.At, s.Entity.String(), s.Said, s.WouldSay})
	}
	if len(list) == 0 && !asJSON {
		a.note("No answer would have been different.")
		return nil
	}
	return a.print(asJSON, shown, rows...)
}
