package remote

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) batchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "batch NUMBER...", Short: "Verify up to 1,000 phone numbers at once", Args: cobra.MinimumNArgs(1),
		Long: `Verifies phone numbers in one request and prints the answers in their order. Each has a record of its own, and a number without
an answer has its error. For more numbers send a file: lineproof api jobs send`,
		Example: "  lineproof api batch 08031234567 +2348031234568",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, numbers []string) error {
		results, err := c.VerifyBatch(ctx, key, numbers, client.VerifyOptions{})
		if err != nil {
			return err
		}
		all, rows := make([]any, len(results)), [][]string{{"NUMBER", "ANSWER", "NETWORK", "REQUEST ID"}}
		for i, one := range results {
			if e := one.Err; e != nil {
				why := map[string]any{"code": e.Code, "message": e.Message, "violations": e.Violations, "requestId": e.RequestID}
				all[i] = map[string]any{"phoneNumber": numbers[i], "error": why}
				rows = append(rows, []string{numbers[i], string(e.Code), "", e.RequestID})
				continue
			}
			all[i] = verificationOf(one.Verification)
			rows = append(rows, []string{one.PhoneNumber, string(one.Status), one.MobileNetwork, one.RequestID})
		}
		return r.Print(*asJSON, all, rows...)
	})
}

func (r *remote) receiptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "receipt REQUEST", Short: "Write the receipt of an answer", Args: cobra.ExactArgs(1),
		Long: `Writes the receipt of an answer by its request id: the proof that the service gave it. Keep it. Anybody to whom you give it can
verify it with "lineproof receipt verify", without this service. There is one about a second after the answer, if the service has a
public log.`,
		Example: "  lineproof api receipt 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >receipt.json",
	}
	proof := cmd.Flags().Bool("tlog-proof", false, "in the form of c2sp.org/tlog-proof instead of JSON")
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		if *proof {
			return c.ReceiptProof(ctx, key, args[0], r.Out)
		}
		return c.Receipt(ctx, key, args[0], r.Out)
	})
}
