// This part of the package has the commands about receipts. They need neither the database nor the
// service.

package evidence

import (
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/receipt"
)

// ReceiptCommand returns the command "receipt".
func ReceiptCommand(con *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "receipt",
		Short: "Verify receipts",
		Long: `A receipt proves which answer the service gave to whom and when. The organisation that asked gets it from
GET /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt and can show it to anybody. The receipt of a file proves that the
service applied it; its supplier gets it with lineproof api lines receipt.`,
		Example: "  lineproof receipt verify receipt.json --verifier 'lineproof.example/log/0/2027+1a2b3c4d+AZ...'",
	}, receiptVerifyCommand(con))
}

func receiptVerifyCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify a receipt with the public key of the log, without a network",
		Long: `Verifies a receipt: that the record has not been changed, that it is in its batch, that the batch is in the log, and that
the key of the log has signed that. It needs no network. FILE may be - for standard input. Of a supplied file, compare the printed
SHA-256 with that of your file.

Get the key from somebody you trust, and not from where the receipt comes from: lineproof log key prints it. Compare what is
printed with what you believe was answered. The exit code is 6 when the receipt is wrong, and also when it is the promise that came
with the answer: then it prints what is promised, which is not yet proven.`,
		Example: "  lineproof receipt verify receipt.json --verifier 'lineproof.example/log/0/2027+1a2b3c4d+AZ...'",
		Args:    cobra.ExactArgs(1),
	}
	key := cmd.Flags().String("verifier", "", "the public key of the log, as lineproof log key prints it")
	policy := cmd.Flags().String("policy", "", "a file with the key of the log, the keys of witnesses, and how many of them must have seen it (c2sp.org/tlog-policy)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(_ *cobra.Command, args []string) error {
		whom, err := whomToBelieve(*key, *policy)
		if err != nil {
			return err
		}
		in, _, err := con.OpenInput(args[0])
		if err != nil {
			return err
		}
		defer in.Close()
		text, err := io.ReadAll(io.LimitReader(in, 2<<20))
		if err != nil {
			return console.Usagef("the receipt can't be read: %v", err)
		}
		return verify(con, *asJSON, text, whom)
	})
	return cmd
}

// verify prints what a receipt proves or promises.
func verify(con *console.Console, asJSON bool, text []byte, whom *receipt.Policy) error {
	if file, err := receipt.ParseSupply(text); err == nil {
		return verifySupply(con, asJSON, file, whom)
	}
	r, err := receipt.Parse(text)
	if err != nil {
		return refuse(con, asJSON, err)
	}
	v, err := r.Verify(whom)
	switch {
	case err == nil:
		return con.Print(asJSON, map[string]any{"verified": true, "proven": v}, rows(v)...)
	case !errors.Is(err, receipt.ErrNotYet):
		return refuse(con, asJSON, err)
	}
	promised, err := r.VerifyPromise(whom)
	if err != nil {
		return refuse(con, asJSON, err)
	}
	all := append([][]string{{"verified", "NOT YET: promised, and not yet proven"}}, rowsOf(&promised.Record)...)
	all = append(all, []string{"log", promised.Origin}, []string{"will have it by", console.FormatTime(promised.Until)}, []string{"get the proof", "from the service, which has it from about a second after the answer"})
	if err := con.Print(asJSON, map[string]any{"verified": false, "promised": promised, "why": receipt.ErrNotYet.Error()}, all...); err != nil {
		return err
	}
	return console.ErrProblems
}

// verifySupply prints what the receipt of a file proves.
func verifySupply(con *console.Console, asJSON bool, r *receipt.SupplyReceipt, whom *receipt.Policy) error {
	v, err := r.Verify(whom)
	if err != nil {
		return refuse(con, asJSON, err)
	}
	all := [][]string{
		{"verified", "yes"},
		{"supplied by", v.Supplier},
		{"kind of file", v.Kind},
		{"SHA-256 of the file, uncompressed", hex.EncodeToString(v.File[:])},
		{"rows", strconv.FormatInt(v.Rows, 10)},
		{"of these rejected", strconv.FormatInt(v.Refused, 10)},
	}
	if !v.AsOf.IsZero() {
		all = append(all, []string{"as of", console.FormatTime(v.AsOf)})
	}
	all = append(all, []string{"in the log since", console.FormatTime(v.At)}, []string{"import", v.Import})
	return con.Print(asJSON, map[string]any{"verified": true, "proven": v}, append(all, logRows(&v.InLog, receipt.SupplyStatement)...)...)
}

func refuse(con *console.Console, asJSON bool, why error) error {
	if err := con.Print(asJSON, map[string]any{"verified": false, "why": why.Error()}, []string{"verified", "NO"}, []string{"why", why.Error()}); err != nil {
		return err
	}
	return console.ErrProblems
}

// whomToBelieve returns the policy that the flags name.
func whomToBelieve(key, file string) (*receipt.Policy, error) {
	switch {
	case (key == "") == (file == ""):
		return nil, console.Usagef("give --verifier or --policy: whom to believe, from somebody you trust")
	case key != "":
		p, err := receipt.NewPolicy(key)
		if err != nil {
			return nil, console.Usagef("--verifier is not the public key of a log, as lineproof log key prints it")
		}
		return p, nil
	}
	return ReadPolicy(file)
}

// ReadPolicy reads a file that has a policy.
func ReadPolicy(file string) (*receipt.Policy, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, console.Usagef("the policy can't be read: %v", err)
	}
	p, err := receipt.ParsePolicy(string(text))
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	return p, nil
}

// rows say in words what was proven.
func rows(v *receipt.Verified) [][]string {
	all := append([][]string{{"verified", "yes"}}, rowsOf(&v.Record)...)
	return append(all, logRows(&v.InLog, receipt.Statement)...)
}

// logRows say where the log has the entry, who has seen it, and what that means.
func logRows(v *receipt.InLog, statement string) [][]string {
	all := [][]string{{"log", v.Origin}, {"entry", strconv.FormatInt(v.Index, 10)}, {"means", statement}}
	for _, name := range slices.Sorted(maps.Keys(v.Witnessed)) {
		all = append(all, []string{"witnessed by", name + ", " + console.FormatTime(v.Witnessed[name])})
	}
	return all
}

// rowsOf say in words what was asked and answered. A test comes first: its answer is not about a real line.
func rowsOf(r *receipt.Record) (all [][]string) {
	number, mode := "erased by law", r.Mode
	if !r.Erased {
		number = "+" + strconv.FormatInt(r.Number, 10)
	}
	if r.IsTest() {
		mode = "TEST. This was a test: the request was made with a test key, and the answer is not about a real line"
	}
	purpose := strings.TrimSuffix(r.Purpose+": "+r.PurposeText, ": ")
	for _, row := range [][2]string{
		{"mode", mode},
		{"organisation", r.Entity},
		{"purpose", purpose},
		{"on behalf of", r.OnBehalfOf},
		{"asked about", number},
		{"any change since", r.Since()},
		{"at", console.FormatTime(r.At)},
		{"answer", r.Status},
		{"reason", r.Reason},
		{"network", r.MobileNetwork},
		{"request", r.RequestID},
		{"external id", r.ExternalID},
		{"also said", r.Extra},
	} {
		if row[1] != "" {
			all = append(all, row[:])
		}
	}
	return all
}
