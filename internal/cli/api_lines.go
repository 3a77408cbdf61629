package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
)

// linesCommand has the commands that supply lines to a running service. They do
// for a telco what "lineproof lines" does for the operator of the service.
func (r *remote) linesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lines",
		Short: "Supply lines to a running service and look at what it made of them",
		Long: `Supplies lines to a running service, and looks at what it made of them.

These commands need an access token with a scope on lines, or a client's id and secret; those that only look also
take a session of the regulator's staff.`,
		Example: "  lineproof api lines send --kind events events.csv.gz",
	}
	cmd.AddCommand(r.linesTellCommand(), r.linesSendCommand(), r.linesImportsCommand(), r.linesImportCommand(), r.linesRefusedCommand(),
		r.linesSupplyCommand(), r.linesHistoryCommand(), r.linesOrderCommand(), r.linesConfirmCommand())
	return cmd
}

// withToken makes fn the work of a command that needs an access token or a
// session.
func (r *remote) withToken(cmd *cobra.Command, fn func(ctx context.Context, c *client.Client, token client.Secret, args []string) error) {
	r.tokenFlags(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		token, err := r.token(ctx, c)
		if err != nil {
			return err
		}
		return fn(ctx, c, token, args)
	})
}

func (r *remote) linesTellCommand() *cobra.Command {
	var e client.LineEvent
	var effective, churn, through string
	cmd := &cobra.Command{
		Use:   "tell NUMBER",
		Short: "Tell one event",
		Long: `Tells what happened to one line and prints what became of the event. Many events are better sent as a file, with
"lineproof api lines send". Told again with the same id and content, an event changes nothing.

The exit code is 6 when the event was refused.`,
		Example: "  lineproof api lines tell 08031234567 --id swap-1 --type SIM_CHANGED --effective-at 2026-11-14T05:12:00Z",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "your own id of the event")
	flags.StringVar(&e.Type, "type", "", "what happened, such as SIM_CHANGED")
	flags.StringVar(&effective, "effective-at", "", "when it took effect, a time or a date")
	flags.StringVar(&e.Network, "network", "", "the network to which a number was ported")
	flags.StringVar(&e.Level, "level", "", "of a flag: MEDIUM, HIGH or VERY_HIGH")
	flags.StringVar(&e.Reason, "reason", "", "of a bar or an end")
	flags.StringVar(&churn, "churn-at", "", "of a notice: when the line will churn")
	flags.StringVar(&e.Voids, "voids", "", "of a correction: the id of the event that is withdrawn")
	flags.StringVar(&e.Note, "note", "", "a word about it")
	flags.StringVar(&through, "through", "", "up to when everything has been supplied")
	required(cmd, "id", "type", "effective-at")
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		e.PhoneNumber = args[0]
		if e.EffectiveAt, err = timeFlag("effective-at", effective); err != nil {
			return err
		}
		if e.ChurnAt, err = timeFlag("churn-at", churn); err != nil {
			return err
		}
		reaches, err := timeFlag("through", through)
		if err != nil {
			return err
		}
		receipt, err := c.TellEvents(ctx, token, []client.LineEvent{e}, reaches)
		if err != nil {
			return err
		}
		result := receipt.Results[0]
		if err := r.app.print(*asJSON, receipt, []string{"result", result.Result}, []string{"reason", result.Reason}, []string{"message", result.Message}); err != nil {
			return err
		}
		if result.Result == client.ResultRefused {
			return errTrouble
		}
		return nil
	})
	return cmd
}

func (r *remote) linesSupplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "supply", Short: "Show how operators supply", Args: cobra.NoArgs,
		Long:    "Shows how far the supply of each operator reaches, and how late its events were in the last 30 days.",
		Example: "  lineproof api lines supply",
	}
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Supply(ctx, token)
		if err != nil {
			return err
		}
		rows := [][]string{{"NETWORK", "SUPPLIED THROUGH", "SILENT", "LINES", "SHARE", "LATE", "REFUSED"}}
		for _, s := range list {
			late := int64(0)
			for _, e := range s.Events {
				late += e.Late
			}
			rows = append(rows, []string{
				s.Network, moment(s.SuppliedThrough), strconv.FormatBool(s.Silent), strconv.FormatInt(s.Lines, 10), strconv.FormatFloat(s.Share, 'f', 4, 64),
				strconv.FormatInt(late, 10), strconv.FormatInt(s.Refused, 10),
			})
		}
		return r.app.print(*asJSON, list, rows...)
	})
	return cmd
}

func (r *remote) linesHistoryCommand() *cobra.Command {
	var asOf, knownAt string
	cmd := &cobra.Command{
		Use:   "history NUMBER",
		Short: "Show the tenures and events of a number",
		Long: `Shows the history of a number: to its own operator, and to the regulator's staff, whose reading is recorded.
Only staff may look back with --as-of and --known-at.`,
		Example: `  lineproof api lines history 08031234567
  lineproof api lines history --token-file ./session --as-of 2026-03-01 08031234567`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&asOf, "as-of", "", "what was true then, a time or a date")
	cmd.Flags().StringVar(&knownAt, "known-at", "", "by what the service knew then, a time or a date")
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		q := client.HistoryQuery{PhoneNumber: args[0]}
		if q.AsOf, err = timeFlag("as-of", asOf); err != nil {
			return err
		}
		if q.KnownAt, err = timeFlag("known-at", knownAt); err != nil {
			return err
		}
		h, err := c.History(ctx, token, q)
		if err != nil {
			return err
		}
		rows := [][]string{{"status", string(h.Status) + " " + h.StatusReason}, {"network", h.MobileNetwork}}
		for _, t := range h.Tenures {
			rows = append(rows, []string{"tenure", t.Network, moment(t.Start), moment(t.End), t.State, t.EndReason})
		}
		for _, e := range h.Events {
			result := e.Result
			if e.Voided {
				result = "VOIDED"
			}
			rows = append(rows, []string{"event " + e.Event, strings.TrimSpace(e.Type + " " + e.Code), moment(e.EffectiveAt), e.Source, result, e.ID})
		}
		return r.app.print(*asJSON, h, rows...)
	})
	return cmd
}

func (r *remote) linesOrderCommand() *cobra.Command {
	var o client.Order
	var effective string
	cmd := &cobra.Command{
		Use:   "order NUMBER",
		Short: "Give an order of the regulator about a number",
		Long: `Gives an order about a number: BAR, UNBAR, BLACKLIST, RELEASE or VOID. A blacklisting waits until another client
or account confirms it with "lineproof api lines confirm".

It needs the scope line:order, or a session of staff who are administrator or reviewer.`,
		Example: "  lineproof api lines order 08031234567 --action BAR --reason COURT --note 'Suit 12 of 2026'",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Action, "action", "", "BAR, UNBAR, BLACKLIST, RELEASE or VOID")
	flags.StringVar(&o.Reason, "reason", "", "of a bar: NIN, FRAUD, COURT, LOST, DEBT or OTHER")
	flags.StringVar(&o.Note, "note", "", "why, in words")
	flags.StringVar(&effective, "effective-at", "", "when it took effect, a time or a date (default: now)")
	flags.StringVar(&o.Event, "event", "", "of VOID: the event to withdraw, by its number in the history")
	flags.StringVar(&o.IdempotencyKey, "idempotency-key", "", "names this order, so that sending it again creates nothing")
	required(cmd, "action", "note")
	completes(cmd, "action", client.OrderBar, client.OrderUnbar, client.OrderBlacklist, client.OrderRelease, client.OrderVoid)
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) (err error) {
		o.PhoneNumber = args[0]
		if o.EffectiveAt, err = timeFlag("effective-at", effective); err != nil {
			return err
		}
		given, err := c.GiveOrder(ctx, token, o)
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
		Long:    "Confirms an order that waits for a second person. Whoever gave it cannot.",
		Example: "  lineproof api lines confirm 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		given, err := c.ConfirmOrder(ctx, token, args[0])
		if err != nil {
			return err
		}
		return r.printOrder(*asJSON, given)
	})
	return cmd
}

func (r *remote) printOrder(asJSON bool, o *client.GivenOrder) error {
	rows := [][]string{{"order", o.ID}, {"state", o.State}}
	if o.Result != nil {
		rows = append(rows, []string{"result", o.Result.Result})
	}
	return r.app.print(asJSON, o, rows...)
}
