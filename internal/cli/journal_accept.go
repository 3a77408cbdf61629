package cli

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/receipt"
)

func (a *app) journalAcceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept RECEIPT",
		Short: "After a restore: take a lost record back from its receipt",
		Long: `A restore to an earlier moment loses the records of the answers since. Whoever asked may have the receipt of an answer,
which has the whole record. This command takes the record of the receipt in the file RECEIPT back, if the public log
has the batch of the record and names it as lost; run lineproof log recover first. Of an answer that the log never had, the
promise that came with the answer is accepted, if it is signed for the log that --policy names.

The record can then be read, found and erased like others, and is marked as one that came back. A record that an erasure
covers is refused. It is written to the audit trail. The command needs the rights of the owner, as migrate does.`,
		Example: `  lineproof journal accept receipt.json --reason "lost on 14 November, sent by the bank"`,
		Args:    cobra.ExactArgs(1),
	}
	reason := cmd.Flags().String("reason", "", "the reason; it is written to the audit trail")
	policy := cmd.Flags().String("policy", "", "file with the policy of the log, to accept a promise whose batch the log never had")
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, args []string) (err error) {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return console.Usagef("the receipt can't be read: %v", err)
		}
		r, err := receipt.Parse(text)
		if err != nil {
			return err
		}
		s := logreceipt.Acceptance{Now: time.Now}
		if *policy != "" {
			if s.Policy, err = evidence.ReadPolicy(*policy); err != nil {
				return err
			}
		}
		cfg, pool, err := backend.OpenAsOwner(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer pool.Close()
		files, err := server.OpenStore(cfg, server.JournalStore)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		s.Pool, s.Files = pool, files
		e, err := s.Accept(cmd.Context(), r, *reason)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, map[string]string{"requestId": e.RequestID.String(), "at": console.FormatTime(e.At)},
			[]string{"request", e.RequestID.String()}, []string{"answered at", console.FormatTime(e.At)})
	})
	return cmd
}
