package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

func (a *app) policyCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "policy",
		Short: "Show and change the policy",
		Long: `The policy defines how long a change of a line is reported, which topics must be supplied and how old a supply may be, how
late an event may be reported, in which time zone a date is a day, and for which purposes banks verify numbers. It has
versions: each takes effect at a given time and never changes. The record of every answer names the version that was used.`,
		Example: "  lineproof policy show",
	}, a.policyShowCommand(), a.policySetCommand(), a.policyHistoryCommand())
}

// policyJSON is a version of the policy as it is printed.
type policyJSON struct{ policy.Policy }

// MarshalJSON implements [json.Marshaler] with the names of the fields.
func (s policyJSON) MarshalJSON() ([]byte, error) {
	doc := map[string]any{
		"version": s.Version, "effectiveAt": console.FormatTime(s.EffectiveAt), "createdAt": console.FormatTime(s.CreatedAt), "note": s.Note,
	}
	for _, f := range policy.Fields {
		doc[f.Name] = *f.Of(&s.Policy)
	}
	for _, f := range policy.TextFields {
		doc[f.Name] = *f.Of(&s.Policy)
	}
	return json.Marshal(doc)
}

// policyValues returns the name and the value of each field, as they are shown.
func policyValues(p policy.Policy) (values [][]string) {
	for _, f := range policy.Fields {
		values = append(values, []string{f.Name, strconv.Itoa(*f.Of(&p))})
	}
	for _, f := range policy.TextFields {
		values = append(values, []string{f.Name, cmp.Or(*f.Of(&p), "(none)")})
	}
	return values
}

// policyChanges returns the name of each field that differs between two versions,
// and both values.
func policyChanges(old, updated policy.Policy) (changes [][]string) {
	after := policyValues(updated)
	for i, before := range policyValues(old) {
		if before[1] != after[i][1] {
			changes = append(changes, []string{before[0], before[1] + " → " + after[i][1]})
		}
	}
	return changes
}

func (s policyJSON) rows() [][]string {
	rows := [][]string{{"version", strconv.Itoa(int(s.Version))}, {"effective", console.FormatTime(s.EffectiveAt)}, {"note", s.Note}}
	return append(rows, policyValues(s.Policy)...)
}

func (a *app) policyShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the current policy, or another version",
		Long:    "Shows a version of the policy. For the meaning of each value run: lineproof policy set --help",
		Example: "  lineproof policy show --json",
		Args:    cobra.NoArgs,
	}
	version, asJSON := versionFlag(cmd), console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		s, err := loadPolicy(cmd.Context(), b, cmd, *version)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, s, s.rows()...)
	})
	return cmd
}

func loadPolicy(ctx context.Context, b *backend.Backend, cmd *cobra.Command, version int32) (s policyJSON, err error) {
	if cmd.Flags().Changed("version") {
		s.Policy, err = policy.Load(ctx, b.Pool, version)
	} else {
		s.Policy, err = policy.Current(ctx, b.Pool, time.Now())
	}
	return s, err
}

func (a *app) policySetCommand() *cobra.Command {
	var given policy.Policy
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Create the next version of the policy",
		Long: `Creates the next version of the policy: values that are not given stay as in the version that it replaces. It takes
effect now or later, never in the past and never before a version that was created earlier. Prints what changes.

It takes two people: it becomes the next version when a second person has confirmed it, and the exit code is 7. While there
are neither founders nor two administrators, it does at once.`,
		Example: `  lineproof policy set --swapped-hours 120 --note 'five days, by direction of June 2026'
  lineproof policy set --sim-freshness-hours 24 --note 'agreed with operators' --effective 2026-07-01
  lineproof policy set --clearing-house 'Interconnect Clearing House' --note 'it reports all ports from now on'
  lineproof policy set --purposes payment=exact,collection=absent,other=absent --note 'exact dates for payments'`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, f := range policy.Fields {
		flags.IntVar(f.Of(&given), f.Flag, 0, fmt.Sprintf("%s (%d to %d)", f.Meaning, f.Min, f.Max))
	}
	for _, f := range policy.TextFields {
		flags.StringVar(f.Of(&given), f.Flag, "", f.Meaning)
	}
	flags.StringVar(&given.Note, "note", "", "why the policy changes")
	console.TimeFlag(cmd, &given.EffectiveAt, "effective", "when it takes effect, such as 2026-07-01 or 2026-07-01T06:00:00+01:00 (default: now)")
	console.Require(cmd, "note")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		changes := false
		for _, f := range policy.Fields {
			changes = changes || cmd.Flags().Changed(f.Flag)
		}
		for _, f := range policy.TextFields {
			changes = changes || cmd.Flags().Changed(f.Flag)
		}
		if !changes {
			return console.Usagef("give at least one value to change")
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		old, created, err := setPolicy(cmd, b, given)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, created, differences(old, created)...)
	})
	return cmd
}

// setPolicy creates a version with the given values changed. It is based on the
// version that is current when the new one takes effect, so that it does not
// silently undo a version that takes effect later than now.
func setPolicy(cmd *cobra.Command, b *backend.Backend, given policy.Policy) (old, created policyJSON, err error) {
	at := given.EffectiveAt
	if at.IsZero() {
		at = time.Now()
	}
	if old.Policy, err = policy.Current(cmd.Context(), b.Pool, at); err != nil {
		return old, created, err
	}
	next := old.Policy
	next.EffectiveAt, next.Note = given.EffectiveAt, given.Note
	for _, f := range policy.Fields {
		if cmd.Flags().Changed(f.Flag) {
			*f.Of(&next) = *f.Of(&given)
		}
	}
	for _, f := range policy.TextFields {
		if cmd.Flags().Changed(f.Flag) {
			*f.Of(&next) = *f.Of(&given)
		}
	}
	policies := &policy.Service{Pool: b.Pool, Now: time.Now}
	created.Policy, err = policies.Set(cmd.Context(), next)
	return old, created, err
}

// differences formats the values that differ between two versions.
func differences(old, updated policyJSON) [][]string {
	rows := [][]string{
		{"version", fmt.Sprintf("%d → %d", old.Version, updated.Version)},
		{"effective", console.FormatTime(updated.EffectiveAt)},
	}
	return append(rows, policyChanges(old.Policy, updated.Policy)...)
}

func (a *app) policyHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "List the versions of the policy, oldest first",
		Long:    "Lists the versions of the policy with what each changed, including those that take effect later.",
		Example: "  lineproof policy history",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		versions, err := policy.History(cmd.Context(), b.Pool)
		if err != nil {
			return err
		}
		list := make([]policyJSON, 0, len(versions))
		rows := [][]string{{"VERSION", "EFFECTIVE", "CHANGES", "NOTE"}}
		for i, v := range versions {
			list = append(list, policyJSON{v})
			rows = append(rows, []string{strconv.Itoa(int(v.Version)), console.FormatTime(v.EffectiveAt), changesOf(versions, i), v.Note})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

// changesOf formats in one line how a version differs from the previous one.
func changesOf(versions []policy.Policy, i int) string {
	if i == 0 {
		return "all"
	}
	var texts []string
	for _, change := range policyChanges(versions[i-1], versions[i]) {
		texts = append(texts, strings.Join(change, " "))
	}
	return strings.Join(texts, ", ")
}
