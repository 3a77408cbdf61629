package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/audit"
)

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the audit trail",
		Long: `The audit trail has an entry for every change by a person, a client or the operator, and for what staff read of a line's
past: who, from where, what, and what was there before and after. Secrets and personal data in it are masked.`,
		Example: "  lineproof audit list",
	}
	cmd.AddCommand(a.auditListCommand())
	return cmd
}

// shownEntry is an entry of the trail, as programs read it.
type shownEntry struct {
	ID        string         `json:"entryId"`
	At        string         `json:"at"`
	Action    string         `json:"action"`
	ActorKind string         `json:"actorKind"`
	Actor     string         `json:"actorId,omitempty"`
	From      string         `json:"from,omitempty"`
	Subject   string         `json:"subject"`
	Entity    string         `json:"entityUid,omitempty"`
	Request   string         `json:"requestId,omitempty"`
	Before    map[string]any `json:"before,omitempty"`
	After     map[string]any `json:"after,omitempty"`
}

func (a *app) auditListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List entries of the audit trail, newest first",
		Long: `Lists entries of the audit trail, newest first. All filters that are given must hold. Where there is more than --limit,
go on with --before and the id of the last entry.`,
		Example: `  lineproof audit list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --since 2026-07-01
  lineproof audit list --action key. --json`,
		Args: cobra.NoArgs,
	}
	var entity, actor, subject, before, since, until, action, kind string
	flags := cmd.Flags()
	flags.StringVar(&entity, "entity", "", "only what concerns this entity")
	flags.StringVar(&actor, "actor", "", "only what this client or account did")
	flags.StringVar(&kind, "by", "", "only what was done by a client, an account, the operator or the system")
	flags.StringVar(&subject, "subject", "", "only what was done to this")
	flags.StringVar(&action, "action", "", "only actions that begin so, such as key. or entity.suspended")
	flags.StringVar(&since, "since", "", "not earlier than this day or time")
	flags.StringVar(&until, "until", "", "earlier than this day or time")
	flags.StringVar(&before, "before", "", "only what is older than this entry")
	limit := flags.Int("limit", 100, fmt.Sprintf("how many, at most %d", audit.MaxPage))
	kinds := []string{string(audit.Client), string(audit.Account), string(audit.Operator), string(audit.System)}
	completes(cmd, "by", kinds...)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		f := audit.Filter{Kind: audit.ActorKind(kind), Action: action, Limit: *limit}
		if kind != "" && !slices.Contains(kinds, kind) {
			return usagef("--by is client, account, operator or system")
		}
		if *limit < 1 || *limit > audit.MaxPage {
			return usagef("--limit is between 1 and %d", audit.MaxPage)
		}
		for _, id := range []struct {
			flag, text string
			to         *uuid.UUID
		}{{"entity", entity, &f.Entity}, {"actor", actor, &f.Actor}, {"subject", subject, &f.Subject}, {"before", before, &f.Before}} {
			if id.text == "" {
				continue
			}
			if *id.to, err = parseID("--"+id.flag, id.text); err != nil {
				return err
			}
		}
		if f.Since, err = timeFlag("since", since); err != nil {
			return err
		}
		if f.Until, err = timeFlag("until", until); err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		entries, err := audit.List(cmd.Context(), p.pool, f)
		if err != nil {
			return err
		}
		if len(entries) == *limit {
			a.note("There may be more: go on with --before %s", entries[len(entries)-1].ID)
		}
		return a.printEntries(*asJSON, entries)
	})
	return cmd
}

func (a *app) printEntries(asJSON bool, entries []audit.Written) error {
	list := make([]shownEntry, 0, len(entries))
	rows := [][]string{{"AT", "ACTION", "BY", "FROM", "SUBJECT", "CHANGE"}}
	for _, e := range entries {
		s := shownEntry{
			ID: e.ID.String(), At: moment(e.At), Action: string(e.Action), ActorKind: string(e.Actor.Kind), Actor: orNothing(e.Actor.ID),
			Subject: e.Subject.String(), Entity: orNothing(e.Entity), Request: orNothing(e.Request), Before: e.Before, After: e.After,
		}
		if e.Actor.From.IsValid() {
			s.From = e.Actor.From.String()
		}
		list = append(list, s)
		rows = append(rows, []string{s.At, s.Action, actorName(e.Actor), s.From, s.Subject, change(e.Before, e.After)})
	}
	return a.print(asJSON, list, rows...)
}

// change writes what changed on one line: name=before->after.
func change(before, after map[string]any) string {
	both := maps.Clone(before)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, after)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		was, there := before[name]
		now, still := after[name]
		switch {
		case there && still:
			fmt.Fprintf(&b, "%s=%v->%v", name, was, now)
		case there:
			fmt.Fprintf(&b, "%s=%v->", name, was)
		default:
			fmt.Fprintf(&b, "%s=%v", name, now)
		}
	}
	return b.String()
}
