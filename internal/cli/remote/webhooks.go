package remote

import (
	"cmp"
	"context"
	"regexp"
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
// by itself, and with null where the service has it.
type webhookJSON struct {
	*client.WebhookEndpoint

	Secret    string  `json:"secret,omitempty"`
	Reason    *string `json:"reason"`
	PublicKey *string `json:"publicKey"`
}

func asWebhookJSON(w *client.WebhookEndpoint) webhookJSON {
	return webhookJSON{w, string(w.Secret), orNull(w.Reason), orNull(w.PublicKey)}
}

// attemptJSON is a request to an endpoint as printed with --json.
type attemptJSON struct {
	*client.WebhookAttempt

	FirstSequence *int64  `json:"firstSequence"`
	LastSequence  *int64  `json:"lastSequence"`
	Status        *int    `json:"status"`
	Error         *string `json:"error"`
}

func asAttemptJSON(a *client.WebhookAttempt) attemptJSON {
	return attemptJSON{a, orNull(a.FirstSequence), orNull(a.LastSequence), orNull(a.Status), orNull(a.Error)}
}

// orNull is a value that is null in JSON if it is the zero value.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
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
	return r.Print(asJSON, asWebhookJSON(w), rows...)
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
	cmd.Flags().StringVar(&w.IdempotencyKey, "idempotency-key", "", "identifies this endpoint, so that a retry does not create it twice")
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
		return console.List(r.Console, *asJSON, list, asWebhookJSON,
			"WEBHOOK, NAME, URL, STATE, WAITING, REFUSED, FAILING SINCE", func(w *webhookJSON) []any {
				return []any{w.ID, w.Name, w.URL, w.State, w.WaitingEvents, w.RefusedEvents, timeOrEmpty(w.FailingSince)}
			})
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
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return r.Print(asJSON, value, console.Table(attempts,
		"ATTEMPT, AT, KIND, FIRST, LAST, STATUS, MS, RESPONSE", func(a *client.WebhookAttempt) []any {
			return []any{
				number(a.Attempt), console.FormatTime(a.At), a.Kind, number(a.FirstSequence), number(a.LastSequence), number(int64(a.Status)), a.Milliseconds,
				oneLine(cmp.Or(a.Error, a.Response)),
			}
		})...)
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
	if err := r.printAttempts(asJSON, asAttemptJSON(a), *a); err != nil {
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
		all := make([]attemptJSON, len(list))
		for i := range list {
			all[i] = asAttemptJSON(&list[i])
		}
		return r.printAttempts(*asJSON, all, list...)
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
		return console.List(r.Console, *asJSON, list, console.AsIs,
			"SEQUENCE, TYPE, REFUSED, STATUS, RESPONSE, ACCEPTED", func(e *client.RefusedEvent) []any {
				return []any{e.Sequence, strings.TrimPrefix(e.Type, "org.lineproof."), console.FormatTime(e.RefusedAt), e.Status, oneLine(e.Response), timeOrEmpty(e.AcceptedAt)}
			})
	})
}

func (r *remote) webhooksResendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resend WEBHOOK EVENT", Short: "Send an endpoint events once more", Args: cobra.ExactArgs(2),
		Long: `Sends an endpoint an event of the feed once more, or with --last all up to another, as far as they fit into one request,
and prints what it answered. Name an event by its id, such as 1-1048577, or its sequence, such as 1048577. The exit code is 6 if it
did not accept them. What is sent next does not change; to send
everything again from a cursor on, use: lineproof api webhooks replay`,
		Example: `  lineproof api webhooks resend "$WEBHOOK" 1048577`,
	}
	last := cmd.Flags().String("last", "", "the last event to send (default: only the first)")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		first, last := sequenceOf(args[1]), sequenceOf(cmp.Or(*last, args[1]))
		if first == 0 || last == 0 {
			return console.Usagef("an event must be named by its id, such as 1-1048577, or its sequence, such as 1048577")
		}
		a, err := c.ResendEvents(ctx, key, args[0], first, max(first, last))
		if err != nil {
			return err
		}
		return r.printAttempt(*asJSON, a)
	})
}

// eventName is an id or a sequence of an event.
var eventName = regexp.MustCompile(`^(?:[1-9][0-9]*-)?([1-9][0-9]{0,15})$`)

// sequenceOf returns the sequence of an event that is named by its id or by its sequence; 0 if the text names none.
func sequenceOf(event string) int64 {
	m := eventName.FindStringSubmatch(event)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // it has at most 16 digits
	return n
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
