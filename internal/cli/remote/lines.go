package remote

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// linesCommand has the commands with which a telco supplies lines over the API,
// as the operator of the service does with "lineproof lines".
func (r *remote) linesCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "lines",
		Short: "Supply lines to a running service and see the results",
		Long: `Supplies lines to a running service and shows the results.

These commands need an access token with a scope for lines, or a client id and secret. Commands that only read also
accept a session of the regulator's staff.`,
		Example: "  lineproof api lines send --kind events events.csv.gz",
	}, r.linesReportCommand(), r.linesSendCommand(), r.linesWatchCommand(), r.linesImportsCommand(), r.linesImportCommand(), r.linesCancelCommand(), r.linesRejectedCommand(), r.linesReceiptCommand(),
		r.linesSupplyCommand(), r.linesHistoryCommand(), r.linesConflictsCommand(), r.linesOrderCommand(), r.linesConfirmCommand())
}

func (r *remote) linesReportCommand() *cobra.Command {
	var e client.LineEvent
	var effective string
	var through time.Time
	cmd := &cobra.Command{
		Use:   "tell NUMBER",
		Short: "Report one event",
		Long: `Reports an event of one line and prints the result. Send many events as a file, with "lineproof api lines send".
Reporting an event again with the same id and content changes nothing.

An event that waits counts when a port is reported or the regulator's staff confirm it. The exit code is 6 when the
event was rejected.`,
		Example: "  lineproof api lines tell 08031234567 --id swap-1 --type SIM_CHANGED --effective-at 2026-11-14T05:12:00Z",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "your own id for the event")
	flags.StringVar(&e.Type, "type", "", "type of the event, such as SIM_CHANGED")
	flags.StringVar(&effective, "effective-at", "", "when it took effect, a time or a date")
	flags.StringVar(&e.Network, "network", "", "the network to which a number was ported")
	flags.StringVar(&e.Level, "level", "", "for a flag: MEDIUM, HIGH or VERY_HIGH")
	flags.StringVar(&e.Reason, "reason", "", "for a bar or an end: the reason")
	flags.BoolVar(&e.FirstHolder, "first-holder", false, "for an assignment: nobody held the number before")
	console.TimeFlag(cmd, &e.ChurnAt, "churn-at", "for a churn notice: when the line will churn")
	flags.StringVar(&e.Voids, "voids", "", "for a correction: the id of the event to withdraw")
	flags.StringVar(&e.Note, "note", "", "free text")
	console.TimeFlag(cmd, &through, "through", "the time up to which your supply is complete")
	console.Require(cmd, "id", "type", "effective-at")
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		e.PhoneNumber = args[0]
		if e.EffectiveAt, err = console.ParseTime("effective-at", effective); err != nil {
			return err
		}
		e.Day = len(effective) == len(time.DateOnly)
		receipt, err := c.ReportEvents(ctx, token, []client.LineEvent{e}, through)
		if err != nil {
			return err
		}
		result := receipt.Results[0]
		if err := r.Print(*asJSON, receipt, []string{"result", result.Result}, []string{"reason", result.Reason}, []string{"message", result.Message}); err != nil {
			return err
		}
		if result.Result == client.ResultRefused {
			return console.ErrProblems
		}
		return nil
	})
	return cmd
}

func (r *remote) linesSupplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "supply", Short: "Show the supply of each operator", Args: cobra.NoArgs,
		Long:    "Shows the time up to which each operator has supplied, and how many of its events in the last 30 days were late.",
		Example: "  lineproof api lines supply",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Supply(ctx, token)
		if err != nil {
			return err
		}
		return console.List(r.Console, *asJSON, list, console.AsIs,
			"NETWORK, SUPPLIED THROUGH, SILENT, LINES, SHARE, LATE, REFUSED", func(s *client.Standing) []any {
				late := int64(0)
				for _, e := range s.Events {
					late += e.Late
				}
				return []any{s.Network, console.FormatTime(s.SuppliedThrough), s.Silent, s.Lines, strconv.FormatFloat(s.Share, 'f', 4, 64), late, s.Refused}
			})
	})
	return cmd
}

func (r *remote) linesHistoryCommand() *cobra.Command {
	var q client.HistoryQuery
	cmd := &cobra.Command{
		Use:   "history NUMBER",
		Short: "Show the tenures and events of a number",
		Long: `Shows the history of a number to its own operator and to the regulator's staff. Staff give the reason, which is recorded
in the audit trail; a person can look up so many different numbers on a day. Only staff may use --as-of, --known-at and
--reason.`,
		Example: `  lineproof api lines history 08031234567
  lineproof api lines history --token-file ./session --as-of 2026-03-01 --reason 'Complaint 2026/114' 08031234567`,
		Args: cobra.ExactArgs(1),
	}
	console.TimeFlag(cmd, &q.AsOf, "as-of", "show the state at this time or date")
	console.TimeFlag(cmd, &q.KnownAt, "known-at", "show only what the service knew at this time or date")
	cmd.Flags().StringVar(&q.Reason, "reason", "", "for staff: the reason, which is recorded")
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		q.PhoneNumber = args[0]
		h, err := c.History(ctx, token, q)
		if err != nil {
			return err
		}
		rows := [][]string{{"status", string(h.Status) + " " + h.StatusReason}, {"network", h.MobileNetwork}}
		for _, t := range h.Tenures {
			rows = append(rows, []string{"tenure", t.Network, console.FormatTime(t.Start), console.FormatTime(t.End), t.State, t.EndReason})
		}
		for _, e := range h.Events {
			result := e.Result
			if e.Voided {
				result = "VOIDED"
			}
			if e.Result == client.ResultWaiting {
				result += " " + e.Reason
			}
			rows = append(rows, []string{"event " + e.Event, strings.TrimSpace(e.Type + " " + e.Code), console.FormatTime(e.EffectiveAt), e.Source, result, e.ID})
		}
		return r.Print(*asJSON, h, rows...)
	})
	return cmd
}

func (r *remote) linesOrderCommand() *cobra.Command {
	var o client.Order
	var effective string
	cmd := &cobra.Command{
		Use:   "order NUMBER",
		Short: "Issue an order of the regulator about a number",
		Long: `Issues an order about a number: BAR, UNBAR, BLACKLIST, RELEASE, VOID or CONFIRM. VOID withdraws an event, and CONFIRM
lets one count that is held; "lineproof api lines conflicts" lists them. BAR and CONFIRM act at once. Every other order, and
one that takes effect in the past, is pending until another client or account confirms it with "lineproof api lines
confirm".

It needs the scope line:order, or a session of staff with the role administrator or reviewer.`,
		Example: `  lineproof api lines order 08031234567 --action BAR --reason COURT --note 'Suit 12 of 2026'
  lineproof api lines order 08031234567 --action CONFIRM --event 4102 --note 'The operator sent the contract'`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Action, "action", "", "BAR, UNBAR, BLACKLIST, RELEASE, VOID or CONFIRM")
	flags.StringVar(&o.Reason, "reason", "", "for a bar: NIN, FRAUD, COURT, LOST, DEBT or OTHER")
	flags.StringVar(&o.Scope, "scope", "", "for a bar: HOLDER or NUMBER (default: NUMBER for COURT and FRAUD, else HOLDER)")
	flags.StringVar(&o.Note, "note", "", "the reason, as free text")
	flags.StringVar(&effective, "effective-at", "", "when it took effect, a time or a date (default: now)")
	flags.StringVar(&o.Event, "event", "", "for VOID and CONFIRM: the event, by its number in the history or the conflicts")
	flags.StringVar(&o.IdempotencyKey, "idempotency-key", "", "identifies this order, so that a retry does not create it twice")
	console.Require(cmd, "action", "note")
	console.Complete(cmd, "action", client.OrderBar, client.OrderUnbar, client.OrderBlacklist, client.OrderRelease, client.OrderVoid, client.OrderConfirm)
	console.Complete(cmd, "scope", client.BarHolder, client.BarNumber)
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		o.PhoneNumber = args[0]
		if o.EffectiveAt, err = console.ParseTime("effective-at", effective); err != nil {
			return err
		}
		given, err := c.CreateOrder(ctx, token, o)
		if err != nil {
			return err
		}
		return r.printOrder(*asJSON, given)
	})
	return cmd
}

func (r *remote) linesConfirmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm ORDER", Short: "Confirm an order as the second person", Args: cobra.ExactArgs(1),
		Long:    "Confirms an order that waits for a second person. The person who issued it cannot confirm it.",
		Example: "  lineproof api lines confirm 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		given, err := c.ConfirmOrder(ctx, token, args[0])
		if err != nil {
			return err
		}
		return r.printOrder(*asJSON, given)
	})
	return cmd
}

func (r *remote) printOrder(asJSON bool, o *client.CreatedOrder) error {
	rows := [][]string{{"order", o.ID}, {"state", o.State}}
	if !o.LapsesAt.IsZero() {
		rows = append(rows, []string{"lapses at", console.FormatTime(o.LapsesAt)})
	}
	if o.Result != nil {
		rows = append(rows, []string{"result", o.Result.Result})
	}
	return r.Print(asJSON, o, rows...)
}
