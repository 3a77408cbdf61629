package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
)

func (r *remote) verifyCommand() *cobra.Command {
	var since string
	var include []string
	cmd := &cobra.Command{
		Use:   "verify NUMBER",
		Short: "Ask what state a phone number is in",
		Long: `Asks what state a phone number is in and prints the status and the network.
Trust the number only when the status is NORMAL. Every question leaves a record with the service.

With --since it also asks whether the holder, the SIM or the network has changed after that moment; take the answer
unknown for a yes. With --include signals it prints everything that holds for the line, and with --include coverage
how far the supply behind the answer reaches.`,
		Example: `  LINEPROOF_API_KEY=$(cat key.txt) lineproof api verify 08031234567
  lineproof api verify --key-file key.txt --json +2348031234567
  lineproof api verify --since 2026-03-01 --include signals,coverage 08031234567`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&r.keyFile, "key-file", "", "file whose first line is the API key; - is standard input")
	cmd.Flags().StringVar(&since, "since", "", "ask what has changed after this day or time, such as 2026-03-01 or 2026-03-01T08:00:00Z")
	cmd.Flags().StringSliceVar(&include, "include", nil, "what else to ask for: signals, coverage")
	completes(cmd, "include", "signals", "coverage")
	asJSON := jsonFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		options, err := verifyOptions(since, include)
		if err != nil {
			return err
		}
		key, err := r.credential(r.keyFile, "LINEPROOF_API_KEY", "key-file")
		if err != nil {
			return err
		}
		v, err := c.VerifyWith(ctx, key, args[0], options)
		if err != nil {
			return err
		}
		return r.app.print(*asJSON, verificationOf(v), verificationRows(v)...)
	})
	return cmd
}

func verifyOptions(since string, include []string) (o client.VerifyOptions, err error) {
	if o.Since, err = timeFlag("since", since); err != nil {
		return o, err
	}
	for _, what := range include {
		switch what {
		case "signals":
			o.Signals = true
		case "coverage":
			o.Coverage = true
		default:
			return o, usagef("--include takes signals and coverage")
		}
	}
	return o, nil
}

// verification is an answer as programs read it: the contract's names, and what
// was not asked for is absent.
type verification struct {
	PhoneNumber   string          `json:"phoneNumber"`
	Status        client.Status   `json:"status"`
	RequestID     string          `json:"requestId"`
	MobileNetwork string          `json:"mobileNetwork"`
	VerifiedAt    string          `json:"verificationTimestamp"`
	StatusReason  string          `json:"statusReason,omitzero"`
	Signals       []signal        `json:"signals,omitzero"`
	Coverage      *coverage       `json:"coverage,omitzero"`
	ChangedSince  client.Changed  `json:"changedSince,omitzero"`
	Changes       []client.Change `json:"changes,omitzero"`
}

type signal struct {
	Status client.Status `json:"status"`
	Since  *string       `json:"since"`
	Until  *string       `json:"until"`
	Source string        `json:"source"`
	Level  string        `json:"level,omitzero"`
}

type coverage struct {
	KnownSince      *string `json:"knownSince"`
	SuppliedThrough *string `json:"suppliedThrough"`
}

func verificationOf(v *client.Verification) verification {
	shown := verification{
		PhoneNumber: v.PhoneNumber, Status: v.Status, RequestID: v.RequestID, MobileNetwork: v.MobileNetwork, VerifiedAt: moment(v.VerifiedAt),
		StatusReason: v.StatusReason, ChangedSince: v.ChangedSince, Changes: v.Changes,
	}
	if v.Signals != nil {
		shown.Signals = make([]signal, 0, len(v.Signals))
	}
	for _, s := range v.Signals {
		shown.Signals = append(shown.Signals, signal{s.Status, maybeMoment(s.Since), maybeMoment(s.Until), s.Source, s.Level})
	}
	if v.Coverage != nil {
		shown.Coverage = &coverage{maybeMoment(v.Coverage.KnownSince), maybeMoment(v.Coverage.SuppliedThrough)}
	}
	return shown
}

// maybeMoment is [moment] for JSON, where nothing is null.
func maybeMoment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := moment(t)
	return &text
}

// verificationRows shows an answer to people.
func verificationRows(v *client.Verification) [][]string {
	status := string(v.Status)
	if v.StatusReason != "" {
		status += " (" + v.StatusReason + ")"
	}
	rows := [][]string{{"status", status}, {"network", v.MobileNetwork}}
	if v.ChangedSince != "" {
		changed := []string{string(v.ChangedSince)}
		for _, c := range v.Changes {
			changed = append(changed, string(c))
		}
		rows = append(rows, []string{"changed", strings.Join(changed, " ")})
	}
	for _, s := range v.Signals {
		rows = append(rows, []string{"signal", signalText(s)})
	}
	if v.Coverage != nil {
		rows = append(rows, []string{"known since", orUnknown(v.Coverage.KnownSince)}, []string{"supplied through", orUnknown(v.Coverage.SuppliedThrough)})
	}
	return append(rows, []string{"request id", v.RequestID})
}

func signalText(s client.Signal) string {
	text := string(s.Status)
	if s.Level != "" {
		text += " " + s.Level
	}
	text += " since " + orUnknown(s.Since)
	if !s.Until.IsZero() {
		text += " until " + moment(s.Until)
	}
	return fmt.Sprintf("%s, by %s", text, strings.ToLower(strings.ReplaceAll(s.Source, "_", " ")))
}

func orUnknown(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return moment(t)
}
