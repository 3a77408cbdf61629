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
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/verify"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "journal",
		Short:   "Read, check and archive the record of what was answered",
		Long:    "The journal holds a record of every answer that was given about a number.",
		Example: "  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.journalGetCommand(), a.journalCheckCommand(), a.journalArchiveCommand(), a.journalNewEpochCommand())
	return cmd
}

func (a *app) journalGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get REQUEST_ID",
		Short: "Show the record of one answer, and derive the answer again",
		Long: `Shows what was asked and what was answered under a requestId, with the nonce and the hash that prove it, from the
database or from the archive. A record whose hash does not fit its content is an error and is not shown.

Then the answer is derived again from what the record names: so much of the line's history as was known then, and
the policy and the numbering plan of those versions. It agrees, or it differs, or it is possible: how far a network's
supply reached at a moment is not always kept, and where the answer hung on that, the answers that come out are
shown. The exit code is 6 when it differs.`,
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
		e, err := p.findRecord(cmd.Context(), id)
		if err != nil {
			return err
		}
		d, err := verify.Derive(cmd.Context(), p.pool, &line.Almanac{}, &e)
		if err != nil {
			return err
		}
		r := recordOf(e)
		r.Derived = derived{Verdict: string(d.Verdict), Answers: append([]string{}, d.Answers...), Why: d.Why}
		if err := a.print(*asJSON, r, r.rows()...); err != nil {
			return err
		}
		if d.Verdict == verify.Differs {
			return fmt.Errorf("the answer does not come out again: %w", errTrouble)
		}
		return nil
	})
	return cmd
}

// findRecord returns a record from the database or from the archive, which it
// opens only if there is one of that day.
func (p *parts) findRecord(ctx context.Context, id uuid.UUID) (journal.Entry, error) {
	e, err := journal.Get(ctx, p.pool, id)
	if !errors.Is(err, journal.ErrNotFound) {
		return e, err
	}
	at, err := journal.TimeOf(id)
	if err != nil {
		return e, err
	}
	archives, err := journal.Archives(ctx, p.pool, at, at)
	if err != nil {
		return e, err
	}
	if len(archives) == 0 {
		return e, journal.ErrNotFound
	}
	files, err := openArchive(p.cfg)
	if err != nil {
		return e, err
	}
	defer files.Close()
	return journal.Find(ctx, p.pool, files, id)
}

// openArchive opens the store in which archived days of the journal lie.
func openArchive(cfg config.Config) (blob.Store, error) {
	return server.OpenStore(cfg, server.JournalStore)
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

	Derived derived `json:"derived"`
}

// derived is what comes of deriving the answer again. It is no part of the
// record.
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
		{"derived", r.Derived.String()},
	}...)
}
