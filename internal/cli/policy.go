package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/policy"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show and change the policy",
		Long: `The policy says how long a change of a line counts, how old a supply may be and how late a report. It has versions:
each takes effect at a time and never changes. The record of every answer names the version by which it was given.`,
		Example: "  lineproof policy show",
	}
	cmd.AddCommand(a.policyShowCommand(), a.policySetCommand(), a.policyHistoryCommand())
	return cmd
}

// shownPolicy is a version of the policy as it is printed.
type shownPolicy struct{ policy.Policy }

// MarshalJSON implements [json.Marshaler] with the names of the fields.
func (s shownPolicy) MarshalJSON() ([]byte, error) {
	doc := map[string]any{
		"version": s.Version, "effectiveAt": moment(s.EffectiveAt), "createdAt": moment(s.CreatedAt), "note": s.Note,
	}
	for _, f := range policy.Fields {
		doc[f.Name] = *f.Of(&s.Policy)
	}
	return json.Marshal(doc)
}

func (s shownPolicy) rows() [][]string {
	rows := [][]string{{"version", strconv.Itoa(int(s.Version))}, {"effective", moment(s.EffectiveAt)}, {"note", s.Note}}
	for _, f := range policy.Fields {
		rows = append(rows, []string{f.Name, strconv.Itoa(*f.Of(&s.Policy))})
	}
	return rows
}

func (a *app) policyShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the policy in force, or another version",
		Long:    "Shows a version of the policy. What each number means stands in the help of: lineproof policy set",
		Example: "  lineproof policy show --json",
		Args:    cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		s, err := policyAt(cmd.Context(), p, cmd, *version)
		if err != nil {
			return err
		}
		return a.print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func policyAt(ctx context.Context, p *parts, cmd *cobra.Command, version int32) (s shownPolicy, err error) {
	if cmd.Flags().Changed("version") {
		s.Policy, err = policy.Load(ctx, p.pool, version)
	} else {
		s.Policy, err = policy.InForce(ctx, p.pool, time.Now())
	}
	return s, err
}

func (a *app) policySetCommand() *cobra.Command {
	var given policy.Policy
	var effective string
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Make the next version of the policy",
		Long: `Makes the next version of the policy: what is not given stays as it is in the version that it replaces. It takes
effect now or later, never in the past and never before a version that was made earlier. Prints what changes.`,
		Example: `  lineproof policy set --swapped-hours 120 --note 'five days, by direction of June 2026'
  lineproof policy set --freshness-days 7 --note 'agreed with operators' --effective 2026-07-01`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, f := range policy.Fields {
		flags.IntVar(f.Of(&given), f.Flag, 0, fmt.Sprintf("%s (%d to %d)", f.Meaning, f.Min, f.Max))
	}
	flags.StringVar(&given.Note, "note", "", "why the policy changes")
	flags.StringVar(&effective, "effective", "", "when it takes effect, such as 2026-07-01 or 2026-07-01T06:00:00+01:00 (default: now)")
	required(cmd, "note")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if given.EffectiveAt, err = timeFlag("effective", effective); err != nil {
			return err
		}
		changes := false
		for _, f := range policy.Fields {
			changes = changes || cmd.Flags().Changed(f.Flag)
		}
		if !changes {
			return usagef("name at least one number that changes")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		old, made, err := setPolicy(cmd, p, given)
		if err != nil {
			return err
		}
		return a.print(*asJSON, made, differences(old, made)...)
	})
	return cmd
}

// setPolicy makes a version that differs from the one before it in what was
// given. Which that is follows from when the new one takes effect: a version
// that waits for its time must not be undone unseen.
func setPolicy(cmd *cobra.Command, p *parts, given policy.Policy) (old, made shownPolicy, err error) {
	at := given.EffectiveAt
	if at.IsZero() {
		at = time.Now()
	}
	if old.Policy, err = policy.InForce(cmd.Context(), p.pool, at); err != nil {
		return old, made, err
	}
	next := old.Policy
	next.EffectiveAt, next.Note = given.EffectiveAt, given.Note
	for _, f := range policy.Fields {
		if cmd.Flags().Changed(f.Flag) {
			*f.Of(&next) = *f.Of(&given)
		}
	}
	book := &policy.Book{Pool: p.pool, Now: time.Now}
	made.Policy, err = book.Set(cmd.Context(), next)
	return old, made, err
}

// differences shows old and new where they differ.
func differences(old, made shownPolicy) [][]string {
	rows := [][]string{
		{"version", fmt.Sprintf("%d → %d", old.Version, made.Version)},
		{"effective", moment(made.EffectiveAt)},
	}
	for _, f := range policy.Fields {
		if was, is := *f.Of(&old.Policy), *f.Of(&made.Policy); was != is {
			rows = append(rows, []string{f.Name, fmt.Sprintf("%d → %d", was, is)})
		}
	}
	return rows
}

func (a *app) policyHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "List the versions of the policy, oldest first",
		Long:    "Lists the versions of the policy with what each changed, those that will take effect later included.",
		Example: "  lineproof policy history",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		versions, err := policy.History(cmd.Context(), p.pool)
		if err != nil {
			return err
		}
		list := make([]shownPolicy, 0, len(versions))
		rows := [][]string{{"VERSION", "EFFECTIVE", "CHANGES", "NOTE"}}
		for i, v := range versions {
			list = append(list, shownPolicy{v})
			rows = append(rows, []string{strconv.Itoa(int(v.Version)), moment(v.EffectiveAt), changesOf(versions, i), v.Note})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

// changesOf says in one line what a version changed in the one before it.
func changesOf(versions []policy.Policy, i int) string {
	if i == 0 {
		return "all"
	}
	text := ""
	for _, f := range policy.Fields {
		if was, is := *f.Of(&versions[i-1]), *f.Of(&versions[i]); was != is {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%s %d → %d", f.Name, was, is)
		}
	}
	return text
}
