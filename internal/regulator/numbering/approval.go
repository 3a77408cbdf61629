package numbering

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// SetKind is the approval of a new version of the plan. Its subject is a draft.
const SetKind approval.Kind = "plan.set"

// ErrNoDraft reports a draft that does not exist.
var ErrNoDraft = fault.New(fault.NotFound, "There is no such draft of the numbering plan.")

// request stores a checked draft, which never changes, and requests it as the next
// version. The approval counts what the draft changes; [LoadDraft] has the draft itself,
// which is too long for an approval.
func request(ctx context.Context, tx pg.Tx, p Plan, d Draft, now time.Time) (uuid.UUID, error) {
	last, err := Load(ctx, tx, p.Version-1)
	if err != nil {
		return uuid.Nil, err
	}
	ids, codes := assignIDs(d.Rows)
	plan := planOf(p, d.Rows, ids, codes)
	var text bytes.Buffer
	if err := plan.WriteCSV(&text); err != nil {
		return uuid.Nil, err
	}
	var effective *time.Time
	if !d.EffectiveAt.IsZero() {
		effective = &p.EffectiveAt
	}
	id := uuid.Must(uuid.NewV7())
	_, err = tx.Exec(ctx, `INSERT INTO numbering_draft (id, version, effective_at, digits, source, ranges, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, p.Version, effective, p.Digits, p.Source, text.String(), now)
	if err != nil {
		return uuid.Nil, fmt.Errorf("numbering: store a draft: %w", err)
	}
	details := map[string]string{"version": strconv.Itoa(int(p.Version))}
	for _, c := range Changes(last, plan) {
		n, _ := strconv.Atoi(details[string(c.Kind)])
		details[string(c.Kind)] = strconv.Itoa(n + 1)
	}
	if effective != nil {
		details["effectiveAt"] = effective.Format(time.RFC3339)
	}
	return approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
		Kind: SetKind, Subject: id, Details: details, Reason: cmp.Or(d.Reason, firstLine(p.Source)), By: d.By, Request: d.Request, At: now,
	})
}

// firstLine returns the first line of a text, as far as it fits into a reason.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if line := []rune(text); len(line) > approval.MaxReason {
		return string(line[:approval.MaxReason])
	}
	return text
}

// LoadDraft returns the plan that a draft would be, and the version before it.
func LoadDraft(ctx context.Context, from pg.DB, id uuid.UUID) (before, after *Plan, err error) {
	d, digits, err := loadDraft(ctx, from, id)
	if err != nil {
		return nil, nil, err
	}
	if before, err = Load(ctx, from, d.BaseVersion); err != nil {
		return nil, nil, err
	}
	ids, codes := assignIDs(d.Rows)
	return before, planOf(Plan{Version: d.BaseVersion + 1, EffectiveAt: d.EffectiveAt, Source: d.Source, Digits: digits}, d.Rows, ids, codes), nil
}

func loadDraft(ctx context.Context, from pg.DB, id uuid.UUID) (d Draft, digits int, err error) {
	var text string
	var effective *time.Time
	err = from.QueryRow(ctx, `SELECT version - 1, effective_at, digits, source, ranges FROM numbering_draft WHERE id = $1`, id).
		Scan(&d.BaseVersion, &effective, &digits, &d.Source, &text)
	if errors.Is(err, pgx.ErrNoRows) {
		return Draft{}, 0, ErrNoDraft
	}
	if err != nil {
		return Draft{}, 0, fmt.Errorf("numbering: read a draft: %w", err)
	}
	if effective != nil {
		d.EffectiveAt = effective.UTC()
	}
	d.Rows, err = ReadCSV(strings.NewReader(text))
	return d, digits, err
}

// setApproved is the effect of [SetKind].
func (s *Service) setApproved(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	d, digits, err := loadDraft(ctx, tx, a.Subject)
	if err != nil {
		return err
	}
	as := *s
	as.Digits = digits
	p, now, err := as.lockNext(ctx, tx, d)
	if err != nil {
		return err
	}
	if p.Version != d.BaseVersion+1 {
		return errChanged
	}
	_, err = store(ctx, tx, p, d.Rows, a.Subject, audit.Entry{At: now, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
	return err
}

// Effects returns the effects of the approvals that this package requests.
func (s *Service) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{SetKind: s.setApproved}
}
