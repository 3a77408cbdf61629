package remote

import (
	"context"
	"strconv"

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

func (r *remote) budgetsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "budgets", Short: "Show what is left of your limits", Args: cobra.NoArgs,
		Long: `Shows what is left of the rates of the API key and of its organisation, and of the quotas and budgets of the organisation, and when
they renew. It uses one request of the rates, and no quota.`,
		Example: "  lineproof api budgets",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, _ []string) error {
		b, err := c.Budgets(ctx, key)
		if err != nil {
			return err
		}
		number := func(n *int64) string {
			if n == nil {
				return "no limit"
			}
			return strconv.FormatInt(*n, 10)
		}
		rows := [][]string{{"WHAT", "LIMIT", "USED", "LEFT", "RENEWS"}}
		for _, rate := range b.Rates {
			rows = append(rows, []string{
				"rate of the " + rate.Name, strconv.FormatFloat(rate.PerSecond, 'f', -1, 64) + "/s, " + strconv.Itoa(rate.Burst) + " at once", strconv.Itoa(rate.Burst - rate.Remaining),
				strconv.Itoa(rate.Remaining), "in " + strconv.FormatInt(rate.ResetSeconds, 10) + "s",
			})
		}
		for _, one := range b.Budgets {
			rows = append(rows, []string{one.Name, number(one.Limit), strconv.FormatInt(one.Used, 10), number(one.Remaining), timeOrEmpty(one.RenewsAt)})
		}
		if b.Restriction != "none" {
			r.Note("the organisation is %s, because its requests look like number scanning", b.Restriction)
		}
		return r.Print(*asJSON, b, rows...)
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
