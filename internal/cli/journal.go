package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/verify"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "journal",
		Short:   "Read, check and archive the record of all answers",
		Long:    "The journal has a record of every answer to a verification.",
		Example: "  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.journalGetCommand(), a.journalCheckCommand(), a.journalArchiveCommand(), a.journalNewEpochCommand())
	return cmd
}

func (a *app) journalGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get REQUEST_ID",
		Short: "Show the record of one answer, and recompute the answer",
		Long: `Shows the request and the answer of a requestId, with the nonce and the hash that prove it, from the database or from
the archive. A record whose hash does not match its content is an error and is not shown.

Then the answer is recomputed from what the record names: the line's history as it was known then, and the policy and
the numbering plan of those versions. The result is agrees, differs or possible: the time up to which a network had
supplied is not kept for every moment, and if the answer depended on it, all possible answers are shown. The exit code
is 6 when it differs.`,
		Example: `  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40
  lineproof journal get --json 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, args []string) error {
		id, err := console.ParseID("REQUEST_ID", args[0])
		if err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		e, err := findRecord(cmd.Context(), b, id)
		if err != nil {
			return err
		}
		d, err := verify.Derive(cmd.Context(), b.Pool, &linestore.Resolver{}, &e)
		if err != nil {
			return err
		}
		r := newRecord(e)
		r.Derived = derived{Verdict: string(d.Verdict), Answers: append([]string{}, d.Answers...), Why: d.Why}
		if err := a.Print(*asJSON, r, r.rows()...); err != nil {
			return err
		}
		if d.Verdict == verify.Differs {
			return fmt.Errorf("the recomputed answer differs: %w", console.ErrProblems)
		}
		return nil
	})
	return cmd
}

// findRecord returns a record from the database or from the archive. It opens the
// archive only if that day is archived.
func findRecord(ctx context.Context, b *backend.Backend, id uuid.UUID) (journal.Entry, error) {
	e, err := journal.Get(ctx, b.Pool, id)
	if !errors.Is(err, journal.ErrNotFound) {
		return e, err
	}
	at, err := journal.TimeOf(id)
	if err != nil {
		return e, err
	}
	archives, err := journal.Archives(ctx, b.Pool, at, at)
	if err != nil {
		return e, err
	}
	if len(archives) == 0 {
		return e, journal.ErrNotFound
	}
	files, err := openArchive(b.Config)
	if err != nil {
		return e, err
	}
	defer files.Close()
	return journal.Find(ctx, b.Pool, files, id)
}

// openArchive opens the store of the archived days of the journal.
func openArchive(cfg config.Config) (blob.Store, error) {
	return server.OpenStore(cfg, server.JournalStore)
}

// record is an entry of the journal as it is printed, with the field names of
// the API where it has them.
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
	Extra         string `json:"extra"` // a string and not an object: the hash covers its exact bytes
	LineVersion   int64  `json:"lineVersion"`
	PolicyVersion int32  `json:"policyVersion"`
	PlanVersion   int32  `json:"planVersion"`
	Nonce         string `json:"nonce"`
	Hash          string `json:"hash"`

	Derived derived `json:"derived"`
}

// derived is the result of recomputing the answer. It is not part of the record.
type derived struct {
	Verdict string   `json:"verdict"` // agrees, possible, differs or untold
	Answers []string `json:"answers"`
	Why     string   `json:"why"`
}

func (d derived) String() string {
	text := d.Verdict
	if len(d.Answers) > 0 {
		text += ": " + strings.Join(d.Answers, ", or ")
	}
	if d.Why != "" {
		text += ". " + d.Why
	}
	return text
}

func newRecord(e journal.Entry) record {
	hash := e.Hash()
	return record{
		RequestID: e.RequestID.String(), At: console.FormatTime(e.At), Entity: e.Entity.String(), Key: e.Key.String(), Mode: e.Mode,
		Purpose: e.Purpose, Correlator: e.Correlator, Number: "+" + strconv.FormatInt(e.Number, 10), PhoneNumber: e.PhoneNumber,
		Options: e.Options, Status: e.Status, MobileNetwork: e.MobileNetwork, Extra: e.Extra, LineVersion: e.LineVersion,
		PolicyVersion: e.PolicyVersion, PlanVersion: e.PlanVersion,
		Nonce: hex.EncodeToString(e.Nonce[:]), Hash: hex.EncodeToString(hash[:]),
	}
}

// rows formats the record as a table. Values sent by callers are quoted, because
// they may contain control sequences for the terminal.
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
		rows = append(rows, []string{"extra", r.Extra})
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
		{"recomputed", r.Derived.String()},
	}...)
}
