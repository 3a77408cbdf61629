package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) verifyCommand() *cobra.Command {
	var since, onBehalfOf, externalID string
	var include []string
	cmd := &cobra.Command{
		Use:   "verify NUMBER",
		Short: "Verify a phone number",
		Long: `Verifies a phone number and prints its status and network. Trust the number only if the status is NORMAL. The service
keeps a record of every request.

With --since it also prints whether the holder, the SIM or the network has changed since that time; treat unknown
as yes. With --include signals it prints all current signals of the line, with --include coverage the period that the
network's supply covers, and with --include dates the start of the tenure, the last SIM change and the last port.
With --include receipt and --json it prints a receipt, which promises that the public log will have the answer.`,
		Example: `  LINEPROOF_API_KEY=$(cat key.txt) lineproof api verify 08031234567
  lineproof api verify --key-file key.txt --json +2348031234567
  lineproof api verify --since 2026-03-01 --include signals,coverage 08031234567`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&r.keyFile, "key-file", "", "file whose first line is the API key; - is standard input")
	cmd.Flags().StringVar(&since, "since", "", "also report changes after this day or time, such as 2026-03-01 or 2026-03-01T08:00:00Z")
	cmd.Flags().StringSliceVar(&include, "include", nil, "also return: signals, coverage, dates, receipt")
	cmd.Flags().StringVar(&onBehalfOf, "on-behalf-of", "", "principal for whom an agent asks, as its mandate names it")
	cmd.Flags().StringVar(&externalID, "external-id", "", "your own id of the question, stored in its record and repeated with --json")
	console.Complete(cmd, "include", "signals", "coverage", "dates", "receipt")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		options, err := verifyOptions(since, include)
		if err != nil {
			return err
		}
		options.OnBehalfOf, options.ExternalID = onBehalfOf, externalID
		key, err := r.credential(r.keyFile, "LINEPROOF_API_KEY", "key-file")
		if err != nil {
			return err
		}
		v, err := c.VerifyWith(ctx, key, args[0], options)
		if err != nil {
			return err
		}
		return r.Print(*asJSON, verificationOf(v), verificationRows(v)...)
	})
	return cmd
}

func verifyOptions(since string, include []string) (o client.VerifyOptions, err error) {
	if o.Since, err = console.ParseTime("since", since); err != nil {
		return o, err
	}
	for _, what := range include {
		switch what {
		case "signals":
			o.Signals = true
		case "coverage":
			o.Coverage = true
		case "dates":
			o.Dates = true
		case "receipt":
			o.Receipt = true
		default:
			return o, console.Usagef("--include takes signals, coverage, dates and receipt")
		}
	}
	return o, nil
}

// verification is an answer for --json, with the field names of the API. Parts
// that were not requested are absent.
type verification struct {
	PhoneNumber   string          `json:"phoneNumber"`
	Status        client.Status   `json:"status"`
	RequestID     string          `json:"requestId"`
	MobileNetwork string          `json:"mobileNetwork"`
	VerifiedAt    string          `json:"verificationTimestamp"`
	StatusReason  string          `json:"statusReason,omitzero"`
	Signals       []signal        `json:"signals,omitzero"`
	Coverage      *coverage       `json:"coverage,omitzero"`
	Dates         *dates          `json:"dates,omitzero"`
	ChangedSince  client.Changed  `json:"changedSince,omitzero"`
	SinceUsed     *string         `json:"sinceUsed,omitzero"`
	Changes       []client.Change `json:"changes,omitzero"`
	KnownThrough  *string         `json:"knownThrough,omitzero"`
	ExternalID    string          `json:"externalId,omitzero"`
	Receipt       json.RawMessage `json:"receipt,omitzero"`
}

type signal struct {
	Status client.Status `json:"status"`
	Since  *string       `json:"since"`
	Until  *string       `json:"until"`
	Source string        `json:"source"`
	Level  string        `json:"level,omitzero"`

	Contested bool `json:"contested,omitzero"`
}

type coverage struct {
	KnownSince      *string         `json:"knownSince"`
	SuppliedThrough *string         `json:"suppliedThrough"`
	Topics          []topicCoverage `json:"topics"`
}

type topicCoverage struct {
	Topic           string  `json:"topic"`
	KnownSince      *string `json:"knownSince"`
	SuppliedThrough *string `json:"suppliedThrough"`
	Required        bool    `json:"required"`
	Fresh           bool    `json:"fresh"`
}

func verificationOf(v *client.Verification) verification {
	result := verification{
		PhoneNumber: v.PhoneNumber, Status: v.Status, RequestID: v.RequestID, MobileNetwork: v.MobileNetwork, VerifiedAt: console.FormatTime(v.VerifiedAt),
		StatusReason: v.StatusReason, ChangedSince: v.ChangedSince, SinceUsed: timeOrNull(v.SinceUsed), Changes: v.Changes, KnownThrough: timeOrNull(v.KnownThrough),
		ExternalID: v.ExternalID, Receipt: v.Receipt,
	}
	if v.Signals != nil {
		result.Signals = make([]signal, 0, len(v.Signals))
	}
	for _, s := range v.Signals {
		result.Signals = append(result.Signals, signal{s.Status, timeOrNull(s.Since), timeOrNull(s.Until), s.Source, s.Level, s.Contested})
	}
	if v.Coverage != nil {
		result.Coverage = &coverage{timeOrNull(v.Coverage.KnownSince), timeOrNull(v.Coverage.SuppliedThrough), []topicCoverage{}}
		for _, t := range v.Coverage.Topics {
			result.Coverage.Topics = append(result.Coverage.Topics,
				topicCoverage{t.Topic, timeOrNull(t.KnownSince), timeOrNull(t.SuppliedThrough), t.Required, t.Fresh})
		}
	}
	if v.Dates != nil {
		result.Dates = &dates{dateOf(&v.Dates.TenureStart), dateOf(&v.Dates.LastSIMChange), dateOf(&v.Dates.LastPort)}
	}
	return result
}

// timeOrNull is [console.FormatTime] for JSON, where the zero time is null.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := console.FormatTime(t)
	return &text
}

// verificationRows formats an answer as a table.
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
		rows = append(rows, []string{"changed", strings.Join(changed, " ")}, []string{"changed since", orUnknown(v.SinceUsed)}, []string{"known through", orUnknown(v.KnownThrough)})
	}
	for _, s := range v.Signals {
		rows = append(rows, []string{"signal", signalText(s)})
	}
	if v.Coverage != nil {
		rows = append(rows, []string{"known since", orUnknown(v.Coverage.KnownSince)}, []string{"supplied through", orUnknown(v.Coverage.SuppliedThrough)})
		for _, t := range v.Coverage.Topics {
			if t.Required {
				rows = append(rows, []string{strings.ToLower(t.Topic) + " through", orUnknown(t.SuppliedThrough)})
			}
		}
	}
	rows = append(rows, dateRows(v.Dates)...)
	return append(rows, []string{"request id", v.RequestID})
}

func signalText(s client.Signal) string {
	text := string(s.Status)
	if s.Level != "" {
		text += " " + s.Level
	}
	text += " since " + orUnknown(s.Since)
	if !s.Until.IsZero() {
		text += " until " + console.FormatTime(s.Until)
	}
	if s.Contested {
		text += ", withdrawn by its operator"
	}
	return fmt.Sprintf("%s, by %s", text, strings.ToLower(strings.ReplaceAll(s.Source, "_", " ")))
}

func orUnknown(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return console.FormatTime(t)
}
