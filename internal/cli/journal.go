package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
)

func (a *app) journalCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "journal",
		Short:   "Read, check and archive the record of all answers",
		Long:    "The journal has a record of every answer to a verification.",
		Example: "  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40 --reason 'Complaint 2026/114'",
	}, a.journalGetCommand(), a.journalCheckCommand(), a.journalArchiveCommand(), a.journalAskedCommand(), a.journalNewEpochCommand(), a.journalAcceptCommand(),
		a.journalEraseCommand(), a.journalHoldCommand())
}

func (a *app) journalGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get REQUEST_ID",
		Short: "Show the record of one answer, and recompute the answer",
		Long: `Shows the request and the answer of a requestId, with the nonce and the hash that prove it, from the database or from
the archive. A record whose hash does not match its content is an error and is not shown.

Then the answer is recomputed from what the record names: the line's history as it was known then, and the policy and
the numbering plan of those versions. The result is agrees, or differs and why. The exit code
is 6 when it differs.

That the record was read, and why, is written to the audit trail before it is shown.`,
		Example: `  lineproof journal get 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40 --reason 'Complaint 2026/114'
  lineproof journal get --json 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40 --reason 'Complaint 2026/114'`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	reason := cmd.Flags().String("reason", "", "the reason; it is recorded")
	console.Require(cmd, "reason")
	cmd.RunE = backend.On(a.Console, "REQUEST_ID", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		reading := staffaccess.Access{Budget: staffaccess.Budget{Pool: b.Pool, Now: time.Now}, By: audit.Actor{Kind: audit.Operator}, Reason: *reason}
		var e record.Entry
		err := reading.FindRecord(ctx, id, func(ctx context.Context, id uuid.UUID) (_ uuid.UUID, err error) {
			e, err = findRecord(ctx, b, id)
			return e.Entity, err
		})
		if err != nil {
			return err
		}
		d, err := verify.Derive(ctx, b.Pool, &linestore.Resolver{}, &e)
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
func findRecord(ctx context.Context, b *backend.Backend, id uuid.UUID) (record.Entry, error) {
	e, err := journal.Get(ctx, b.Pool, id)
	if !errors.Is(err, journal.ErrNotFound) {
		return e, err
	}
	at, ok := record.TimeOf(id)
	if !ok {
		return e, journal.ErrNotFound
	}
	archives, err := journal.Archives(ctx, b.Pool, at, at)
	if err != nil {
		return e, err
	}
	if len(archives) == 0 {
		return e, journal.ErrNotFound
	}
	files, err := b.Archive()
	if err != nil {
		return e, err
	}
	defer files.Close()
	return journal.Find(ctx, b.Pool, files, id)
}

// recordJSON is an entry of the journal as it is printed, with the field names of
// the API where it has them.
type recordJSON struct {
	RequestID     string  `json:"requestId"`
	At            string  `json:"verificationTimestamp"`
	Entity        string  `json:"entityUid"`
	Key           string  `json:"keyId"`
	Type          string  `json:"type"`
	Mode          string  `json:"mode"`
	Purpose       string  `json:"purpose"`
	PurposeText   string  `json:"purposeText"`
	Status        string  `json:"status"`
	Reason        string  `json:"reason"`
	MobileNetwork string  `json:"mobileNetwork"`
	LineVersion   int64   `json:"lineVersion"`
	PolicyVersion int32   `json:"policyVersion"`
	PlanVersion   int32   `json:"planVersion"`
	Rules         int32   `json:"rules"`
	Coverage      string  `json:"coverage"` // the bytes that the hash covers; Topics has what they mean
	Topics        []topic `json:"topics"`
	Erased        bool    `json:"erased"` // the fields from number to extra are gone, and so is the nonce
	Number        string  `json:"number"`
	PhoneNumber   string  `json:"phoneNumber"`
	Correlator    string  `json:"correlator"`
	ExternalID    string  `json:"externalId"`
	OnBehalfOf    string  `json:"onBehalfOf"`
	Options       string  `json:"options"`
	Extra         string  `json:"extra"` // a string and not an object: the hash covers its exact bytes
	Nonce         string  `json:"nonce"`
	PersonalHash  string  `json:"personalHash"` // of the personal part and the nonce
	Hash          string  `json:"hash"`

	Derived derived `json:"derived"`
}

// derived is the result of recomputing the answer. It is not part of the record.
type derived struct {
	Verdict string   `json:"verdict"` // agrees, differs or untold
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

// topic is the coverage of one topic that decided the answer. Times are empty where
// there is none.
type topic struct {
	Topic           string `json:"topic"`
	KnownSince      string `json:"knownSince"`
	CompleteSince   string `json:"completeSince"`
	SuppliedThrough string `json:"suppliedThrough"`
	Required        bool   `json:"required"`
	Fresh           bool   `json:"fresh"`
}

func newRecord(e record.Entry) recordJSON {
	hash, inner := e.Hash(), e.InnerHash()
	r := recordJSON{
		RequestID: e.RequestID.String(), At: console.FormatTime(e.At), Type: e.Type, Entity: e.Entity.String(), Key: e.Key.String(), Mode: e.Mode,
		Purpose: e.Purpose, PurposeText: e.PurposeText, Status: e.Status, Reason: e.Reason, MobileNetwork: e.MobileNetwork, LineVersion: e.LineVersion,
		PolicyVersion: e.PolicyVersion, PlanVersion: e.PlanVersion, Rules: e.Rules, Coverage: hex.EncodeToString(e.Coverage[:]), Erased: e.Erased(),
		PersonalHash: hex.EncodeToString(inner[:]), Hash: hex.EncodeToString(hash[:]),
	}
	for _, t := range verify.ReadCoverage(&e.Coverage) {
		r.Topics = append(r.Topics, topic{
			Topic: t.Topic.String(), KnownSince: console.FormatTime(t.KnownSince), CompleteSince: console.FormatTime(t.CompleteSince),
			SuppliedThrough: console.FormatTime(t.Through), Required: t.Required, Fresh: t.Fresh,
		})
	}
	if !r.Erased {
		r.Number, r.PhoneNumber, r.Correlator, r.ExternalID = "+"+strconv.FormatInt(e.Number, 10), e.PhoneNumber, e.Correlator, e.ExternalID
		r.OnBehalfOf, r.Options, r.Extra, r.Nonce = e.OnBehalfOf, e.Options, e.Extra, hex.EncodeToString(e.Nonce[:])
	}
	return r
}

// rows formats the record as a table. Values sent by callers are quoted, because
// they may contain control sequences for the terminal.
func (r recordJSON) rows() [][]string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"request id", r.RequestID},
		{"at", r.At},
		{"status", strings.TrimSpace(r.Status + " " + r.Reason)},
		{"network", r.MobileNetwork},
	}
	if r.Erased {
		rows = append(rows, []string{"personal part", "erased"})
	} else {
		rows = append(rows, [][]string{
			{"number", r.Number},
			{"as sent", strconv.Quote(r.PhoneNumber)},
			{"correlator", strconv.Quote(r.Correlator)},
			{"external id", strconv.Quote(r.ExternalID)},
			{"on behalf of", strconv.Quote(r.OnBehalfOf)},
			{"options", strconv.Quote(r.Options)},
		}...)
	}
	if r.Extra != "" {
		rows = append(rows, []string{"extra", r.Extra})
	}
	for _, t := range r.Topics {
		if t.KnownSince != "" {
			rows = append(rows, []string{"coverage of " + t.Topic, t.String()})
		}
	}
	return append(rows, [][]string{
		{"entity", r.Entity},
		{"key", r.Key + " (" + r.Mode + ")"},
		{"purpose", strings.TrimSpace(r.Purpose + " " + strconv.Quote(r.PurposeText))},
		{"versions", "line " + number(r.LineVersion) + ", policy " + number(int64(r.PolicyVersion)) + ", plan " + number(int64(r.PlanVersion)) + ", rules " + number(int64(r.Rules))},
		{"nonce", r.Nonce},
		{"personal hash", r.PersonalHash},
		{"hash", r.Hash},
		{"recomputed", r.Derived.String()},
	}...)
}

// String returns the coverage in one line.
func (t topic) String() string {
	text := "known since " + t.KnownSince
	if t.SuppliedThrough != "" {
		text += ", supplied through " + t.SuppliedThrough
	}
	if t.Fresh {
		return text + ", fresh"
	}
	return text + ", not fresh"
}
