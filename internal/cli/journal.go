package cli

import (
	"encoding/hex"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/journal"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "journal",
		Short:   "Read the record of what was answered",
		Long:    "The journal holds a record of every answer that was given about a number.",
		Example: "  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.journalGetCommand())
	return cmd
}

func (a *app) journalGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get REQUEST_ID",
		Short: "Show the record of one answer",
		Long: `Shows what was asked and what was answered under a requestId, with the nonce and the hash that prove it.
A record whose hash does not fit its content is an error and is not shown.`,
		Example: `  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40
  lineproof journal get --json 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := parseID("REQUEST_ID", args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		e, err := journal.Get(cmd.Context(), p.pool, id)
		if err != nil {
			return err
		}
		r := recordOf(e)
		return a.print(*asJSON, r, r.rows()...)
	})
	return cmd
}

// record is an entry of the journal as it is printed. The names are the
// contract's where it has one.
type record struct {
	RequestID     string `json:"requestId"`
	At            string `json:"verificationTimestamp"`
	Entity        string `json:"entityUid"`
	Key           string `json:"keyId"`
	Mode          string `json:"mode"`
	Purpose       string `json:"purpose"`
	Correlator    string `json:"correlator"`
	Number        string `json:"number"`
	PhoneNumber   string `json:"phoneNumber"`
	Options       string `json:"options"`
	Status        string `json:"status"`
	MobileNetwork string `json:"mobileNetwork"`
	Extra         string `json:"extra"` // a text and not an object: the hash is over its very bytes
	LineVersion   int64  `json:"lineVersion"`
	PolicyVersion int32  `json:"policyVersion"`
	PlanVersion   int32  `json:"planVersion"`
	Nonce         string `json:"nonce"`
	Hash          string `json:"hash"`
}

func recordOf(e journal.Entry) record {
	hash := e.Hash()
	return record{
		RequestID: e.RequestID.String(), At: moment(e.At), Entity: e.Entity.String(), Key: e.Key.String(), Mode: e.Mode,
		Purpose: e.Purpose, Correlator: e.Correlator, Number: "+" + strconv.FormatInt(e.Number, 10), PhoneNumber: e.PhoneNumber,
		Options: e.Options, Status: e.Status, MobileNetwork: e.MobileNetwork, Extra: e.Extra, LineVersion: e.LineVersion,
		PolicyVersion: e.PolicyVersion, PlanVersion: e.PlanVersion,
		Nonce: hex.EncodeToString(e.Nonce[:]), Hash: hex.EncodeToString(hash[:]),
	}
}

// rows shows what callers sent in quotes, for it may hold anything that a
// terminal would obey.
func (r record) rows() [][]string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"request id", r.RequestID},
		{"at", r.At},
		{"number", r.Number},
		{"as sent", strconv.Quote(r.PhoneNumber)},
		{"status", r.Status},
		{"network", r.MobileNetwork},
	}
	if r.Extra != "" {
		rows = append(rows, []string{"and said", r.Extra})
	}
	return append(rows, [][]string{
		{"entity", r.Entity},
		{"key", r.Key + " (" + r.Mode + ")"},
		{"purpose", strconv.Quote(r.Purpose)},
		{"correlator", strconv.Quote(r.Correlator)},
		{"options", strconv.Quote(r.Options)},
		{"versions", "line " + number(r.LineVersion) + ", policy " + number(int64(r.PolicyVersion)) + ", plan " + number(int64(r.PlanVersion))},
		{"nonce", r.Nonce},
		{"hash", r.Hash},
	}...)
}
