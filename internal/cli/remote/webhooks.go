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

// webhooksCommand has the commands about webhook endpoints.
func (r *remote) webhooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Short: "Have the feed sent to your own addresses",
		Long: `Has the feed of your organisation sent to HTTPS addresses of yours, signed and in order. The API key needs the right feed.
An endpoint gets events when it has answered a challenge.`,
		Example: "  lineproof api webhooks add https://hooks.bank.example/lineproof --name 'core banking'",
	}
	cmd.AddCommand(r.webhooksAddCommand(), r.webhooksListCommand(), r.webhooksShowCommand(), r.webhooksDeleteCommand(), r.webhooksAttemptsCommand(), r.webhooksTestCommand(),
		r.webhooksRefusedCommand(), r.webhooksResendCommand(), r.webhooksReplayCommand())
	for _, change := range []struct {
		name, short, long string
		call              func(*client.Client, context.Context, client.Secret, string) (*client.WebhookEndpoint, error)
	}{
		{"confirm", "Send an endpoint the challenge", "Sends an endpoint that is new or disabled a challenge. If it answers as it must, it is active, and goes on where it stopped.", (*client.Client).ConfirmWebhook},
		{"pause", "Stop sending to an endpoint", "Stops sending to an endpoint. Events wait for it as long as the feed keeps them.", (*client.Client).PauseWebhook},
		{"resume", "Go on sending to a paused endpoint", "Goes on sending where a paused endpoint stopped.", (*client.Client).ResumeWebhook},
		{"roll", "Give an endpoint a new key", "Gives an endpoint a new key. For a day requests are signed with both. The secret of hmac is printed once.", (*client.Client).RollWebhook},
	} {
		cmd.AddCommand(r.changeWebhookCommand(change.name, change.short, change.long, change.call))
	}
	return cmd
}

// webhookJSON is an endpoint as printed with --json: with its secret, which no client prints
// by itself.
type webhookJSON struct {
	*client.WebhookEndpoint

	Secret string `json:"secret,omitempty"`
}

func (r *remote) printWebhook(asJSON bool, w *client.WebhookEndpoint) error {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"webhook", w.ID},
		{"name", w.Name},
		{"url", w.URL},
		{"mode", w.Mode},
		{"form", w.Form},
		{"state", strings.TrimSpace(w.State + " " + w.Reason)},
		{"waiting events", count(w.WaitingEvents)},
		{"refused events", count(w.RefusedEvents)},
	}
	if w.PublicKey != "" {
		rows = append(rows, []string{"public key", w.PublicKey})
	}
	if s := string(w.Secret); s != "" {
		rows = append(rows, []string{"secret", s})
	}
	if w.FailingSince != nil {
		rows = append(rows, []string{"failing since", console.FormatTime(*w.FailingSince)})
	}
	return r.Print(asJSON, webhookJSON{w, string(w.Secret)}, rows...)
}

func (r *remote) webhooksAddCommand() *cobra.Command {
	var w client.NewWebhook
	cmd := &cobra.Command{
		Use: "add URL", Short: "Add an endpoint", Args: cobra.ExactArgs(1),
		Long: `Adds an endpoint and prints it, with the key by which you verify its requests: keep a secret of hmac, it is shown once.
Confirm the endpoint when it can answer the challenge.`,
		Example: "  lineproof api webhooks add https://hooks.bank.example/lineproof --name 'core banking' --form single",
	}
	cmd.Flags().StringVar(&w.Name, "name", "", "a name for people")
	cmd.Flags().StringVar(&w.Form, "form", "", "how many events a request has: batch (default) or single")
	cmd.Flags().StringVar(&w.Algorithm, "algorithm", "", "how requests are signed: ed25519 (default) or hmac")
	console.Require(cmd, "name")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		w.URL = args[0]
		made, err := c.CreateWebhook(ctx, key, w)
		if err != nil {
			return err
		}
		return r.printWebhook(*asJSON, made)
	})
}

func (r *remote) webhooksListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the endpoints, oldest first", Args: cobra.NoArgs,
		Long:    "Lists the endpoints of your organisation in the mode of the API key.",
		Example: "  lineproof api webhooks list",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, _ []string) error {
		list, err := c.Webhooks(ctx, key)
		if err != nil {
			return err
		}
		rows := [][]string{{"WEBHOOK", "NAME", "URL", "STATE", "WAITING", "REFUSED", "FAILING SINCE"}}
		for i := range list {
			w := &list[i]
			rows = append(rows, []string{w.ID, w.Name, w.URL, w.State, strconv.FormatInt(w.WaitingEvents, 10), strconv.FormatInt(w.RefusedEvents, 10), timeOrEmpty(w.FailingSince)})
		}
		return r.Print(*asJSON, list, rows...)
	})
}

func timeOrEmpty(t *time.Time) string {
	if t == nil {
		return ""
	}
	return console.FormatTime(*t)
}

func (r *remote) webhooksShowCommand() *cobra.Command {
	return r.changeWebhookCommand("show", "Show an endpoint", "Shows an endpoint and how far it is.", (*client.Client).Webhook)
}

// changeWebhookCommand is a command that calls one operation on an endpoint, and prints it.
func (r *remote) changeWebhookCommand(name, short, long string, call func(*client.Client, context.Context, client.Secret, string) (*client.WebhookEndpoint, error)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " WEBHOOK", Short: short, Args: cobra.ExactArgs(1), Long: long, Example: "  lineproof api webhooks " + name + ` "$WEBHOOK"`}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		w, err := call(c, ctx, key, args[0])
		if err != nil {
			return err
		}
		return r.printWebhook(*asJSON, w)
	})
}

func (r *remote) webhooksDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete WEBHOOK", Short: "Delete an endpoint", Args: cobra.ExactArgs(1),
		Long:    "Deletes an endpoint, with the list of its requests. The events stay in the feed.",
		Example: `  lineproof api webhooks delete "$WEBHOOK"`,
	}
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		if err := c.DeleteWebhook(ctx, key, args[0]); err != nil {
			return err
		}
		r.Note("The endpoint is deleted.")
		return nil
	})
}

// printAttempts prints requests to an endpoint.
func (r *remote) printAttempts(asJSON bool, value any, attempts ...client.WebhookAttempt) error {
	rows := [][]string{{"ATTEMPT", "AT", "KIND", "FIRST", "LAST", "STATUS", "MS", "RESPONSE"}}
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	for i := range attempts {
		a := &attempts[i]
		answer := a.Response
		if a.Error != "" {
			answer = a.Error
		}
		rows = append(rows, []string{
			number(a.Attempt), console.FormatTime(a.At), a.Kind, number(a.FirstSequence), number(a.LastSequence), number(int64(a.Status)), strconv.FormatInt(a.Milliseconds, 10), oneLine(answer),
		})
	}
	return r.Print(asJSON, value, rows...)
}

// oneLine shortens an answer of an endpoint to what a table can have.
func oneLine(text string) string {
	const most = 80
	line := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }), " ")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

// printAttempt prints one request, and fails if the endpoint did not accept it.
func (r *remote) printAttempt(asJSON bool, a *client.WebhookAttempt) error {
	if err := r.printAttempts(asJSON, a, *a); err != nil {
		return err
	}
	if !a.Succeeded() {
		return console.ErrProblems
	}
	return nil
}

func (r *remote) webhooksAttemptsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "attempts WEBHOOK", Short: "List the requests to an endpoint, newest first", Args: cobra.ExactArgs(1),
		Long:    "Lists the last requests to an endpoint with what it answered, 100 at once. About 1,000 are kept.",
		Example: `  lineproof api webhooks attempts "$WEBHOOK"`,
	}
	before := cmd.Flags().Int64("before", 0, "only attempts before the one with this number")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		list, err := c.WebhookAttempts(ctx, key, args[0], *before)
		if err != nil {
			return err
		}
		return r.printAttempts(*asJSON, list, list...)
	})
}

func (r *remote) webhooksTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test WEBHOOK", Short: "Send an endpoint a test event", Args: cobra.ExactArgs(1),
		Long:    "Sends an endpoint an event that is no part of the feed, and prints what it answered. The exit code is 6 if it did not accept it.",
		Example: `  lineproof api webhooks test "$WEBHOOK"`,
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		a, err := c.TestWebhook(ctx, key, args[0])
		if err != nil {
			return err
		}
		return r.printAttempt(*asJSON, a)
	})
}

func (r *remote) webhooksRefusedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "refused WEBHOOK", Short: "List the events that an endpoint refused", Args: cobra.ExactArgs(1),
		Long:    "Lists the last events that an endpoint refused as malformed ten times over an hour, so that they were put aside, newest first. Send them again with: lineproof api webhooks resend",
		Example: `  lineproof api webhooks refused "$WEBHOOK"`,
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		list, err := c.RefusedEvents(ctx, key, args[0])
		if err != nil {
			return err
		}
		if len(list) == 0 && !*asJSON {
			r.Note("The endpoint has refused no event for good.")
			return nil
		}
		rows := [][]string{{"SEQUENCE", "TYPE", "REFUSED", "STATUS", "RESPONSE", "ACCEPTED"}}
		for i := range list {
			e := &list[i]
			rows = append(rows, []string{
				strconv.FormatInt(e.Sequence, 10), strings.TrimPrefix(e.Type, "org.lineproof."), console.FormatTime(e.RefusedAt), strconv.Itoa(e.Status), oneLine(e.Response), timeOrEmpty(e.AcceptedAt),
			})
		}
		return r.Print(*asJSON, list, rows...)
	})
}

func (r *remote) webhooksResendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resend WEBHOOK SEQUENCE", Short: "Send an endpoint events once more", Args: cobra.ExactArgs(2),
		Long: `Sends an endpoint an event of the feed once more, or with --last all up to another, as far as they fit into one request,
and prints what it answered. The exit code is 6 if it did not accept them. What is sent next does not change; to send
everything again from a cursor on, use: lineproof api webhooks replay`,
		Example: `  lineproof api webhooks resend "$WEBHOOK" 1048577`,
	}
	last := cmd.Flags().Int64("last", 0, "the sequence of the last event to send (default: only the first)")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		first, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || first < 1 {
			return console.Usagef("SEQUENCE must be the sequence of an event, such as 1048577")
		}
		a, err := c.ResendEvents(ctx, key, args[0], first, max(*last, first))
		if err != nil {
			return err
		}
		return r.printAttempt(*asJSON, a)
	})
}

func (r *remote) webhooksReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay WEBHOOK", Short: "Send the feed again", Args: cobra.ExactArgs(1),
		Long:    "Sends the feed again from a cursor on, in its order, or from the oldest event that is kept.",
		Example: `  lineproof api webhooks replay "$WEBHOOK" --after 1-1048500-0123456789abcdef`,
	}
	after := cmd.Flags().String("after", "", "a cursor of the feed (default: from the oldest event)")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		w, err := c.ReplayWebhook(ctx, key, args[0], *after)
		if err != nil {
			return err
		}
		return r.printWebhook(*asJSON, w)
	})
}
