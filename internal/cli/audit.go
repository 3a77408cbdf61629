package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) auditCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "audit",
		Short: "Read and check the audit trail",
		Long: `The audit trail has an entry for every change by a person, a client or the operator, and for every time staff read the
history of a line: who, from where, what, and the values before and after. Secrets and personal data in it are masked.`,
		Example: "  lineproof audit list",
	}, a.auditListCommand(), evidence.CheckCommand(a.Console))
}

// auditJSON is an entry of the audit trail, as printed with --json.
type auditJSON struct {
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
		Long: `Lists entries of the audit trail, newest first. An entry must match all given filters. If there are more than --limit,
continue with --before and the id of the last entry.`,
		Example: `  lineproof audit list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --since 2026-07-01
  lineproof audit list --action key. --json`,
		Args: cobra.NoArgs,
	}
	f := audit.Filter{}
	var kind string
	flags := cmd.Flags()
	console.IDFlag(cmd, &f.Entity, "entity", "only entries about this entity")
	console.IDFlag(cmd, &f.Actor, "actor", "only actions of this client, account or API key")
	flags.StringVar(&kind, "by", "", "only actions of this kind of actor: client, account, key, operator or system")
	console.IDFlag(cmd, &f.Subject, "subject", "only entries with this subject id")
	flags.StringVar(&f.Action, "action", "", "only actions with this prefix, such as key. or entity.suspended")
	console.TimeFlag(cmd, &f.Since, "since", "only entries since this day or time")
	console.TimeFlag(cmd, &f.Until, "until", "only entries before this day or time")
	console.IDFlag(cmd, &f.Before, "before", "only entries older than the entry with this id")
	flags.IntVar(&f.Limit, "limit", 100, fmt.Sprintf("maximum number of rows, up to %d", audit.MaxPage))
	kinds := []string{string(audit.Client), string(audit.Account), string(audit.APIKey), string(audit.Operator), string(audit.System)}
	console.Complete(cmd, "by", kinds...)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		f.Kind = audit.ActorKind(kind)
		if kind != "" && !slices.Contains(kinds, kind) {
			return console.Usagef("--by must be client, account, key, operator or system")
		}
		if f.Limit < 1 || f.Limit > audit.MaxPage {
			return console.Usagef("--limit must be between 1 and %d", audit.MaxPage)
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		entries, err := audit.List(cmd.Context(), b.Pool, f)
		if err != nil {
			return err
		}
		if len(entries) == f.Limit {
			a.Note("There may be more. Continue with: --before %s", entries[len(entries)-1].ID)
		}
		return a.printEntries(*asJSON, entries)
	})
	return cmd
}

func (a *app) printEntries(asJSON bool, entries []audit.Record) error {
	return console.List(a.Console, asJSON, entries, newAuditJSON,
		"AT, ACTION, BY, FROM, SUBJECT, CHANGE", func(s *auditJSON) []any {
			return []any{s.At, s.Action, strings.TrimSpace(s.ActorKind + " " + s.Actor), s.From, s.Subject, formatChange(s.Before, s.After)}
		})
}

func newAuditJSON(e *audit.Record) auditJSON {
	s := auditJSON{
		ID: e.ID.String(), At: console.FormatTime(e.At), Action: string(e.Action), ActorKind: string(e.Actor.Kind), Actor: console.FormatID(e.Actor.ID),
		Subject: e.Subject.String(), Entity: console.FormatID(e.Entity), Request: console.FormatID(e.Request), Before: e.Before, After: e.After,
	}
	if e.Actor.From.IsValid() {
		s.From = e.Actor.From.String()
	}
	return s
}

// formatChange formats the changed values in one line: name=before->after.
func formatChange(before, after map[string]any) string {
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
		old, hadOld := before[name]
		updated, hasNew := after[name]
		switch {
		case hadOld && hasNew:
			fmt.Fprintf(&b, "%s=%v->%v", name, old, updated)
		case hadOld:
			fmt.Fprintf(&b, "%s=%v->", name, old)
		default:
			fmt.Fprintf(&b, "%s=%v", name, updated)
		}
	}
	return b.String()
}
