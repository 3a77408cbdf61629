package whoasked

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// Report is what an organisation was told about a number, for the person who holds it. It
// has nothing that belongs to the organisations alone: no keys, no ids of requests.
type Report struct {
	Approval    uuid.UUID `json:"approvalId"`
	Number      string    `json:"number"` // E.164
	First       string    `json:"from"`   // the first and the last day, of UTC
	Last        string    `json:"to"`
	MadeAt      time.Time `json:"madeAt"`
	Answers     int       `json:"answers"`
	WithDetails int       `json:"answersWithDetails"` // answers that said more than the status and the network
	Erased      int64     `json:"erasedRecords"`      // records of the period that no longer say which number they were about
	Rows        []Row     `json:"rows"`
}

// Row is answers in one month that are the same but for their time.
type Row struct {
	Organisation string `json:"organisation"`
	Purpose      string `json:"purpose"`
	PurposeText  string `json:"purposeText"`
	OnBehalfOf   string `json:"onBehalfOf"` // for whom the organisation asked; empty for itself
	Month        string `json:"month"`
	Status       string `json:"status"`
	Reason       string `json:"reason"`
	Network      string `json:"network"`
	Answers      int    `json:"answers"`
}

// Run runs a search that was allowed and returns its report. The run is in the audit
// trail before it returns, with the number of answers; if that fails, nothing is returned.
// OnProgress is called with the number of records that were searched; it may be nil.
func (s *Service) Run(ctx context.Context, id uuid.UUID, by audit.Actor, onProgress func(records int64)) (Report, error) {
	if err := registry.CheckAdministrator(ctx, s.Pool, by); err != nil {
		return Report{}, err
	}
	found, err := s.allowed(ctx, id)
	if err != nil {
		return Report{}, err
	}
	r, err := s.search(ctx, found, onProgress)
	if err != nil {
		return Report{}, err
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		after := found.approval.Both()
		after["phoneNumber"], after["from"], after["to"] = r.Number, r.First, r.Last
		after["answers"], after["organisations"] = r.Answers, r.organisations()
		return audit.Write(ctx, tx, audit.Entry{At: s.Now(), Actor: by, Action: audit.WhoAsked, Subject: id, After: after})
	})
	if err != nil {
		return Report{}, err
	}
	return r, nil
}

func (s *Service) search(ctx context.Context, what search, onProgress func(int64)) (Report, error) {
	number := what.number.Int()
	var erased atomic.Int64
	count := counts{}
	r := Report{
		Approval: what.approval.ID, Number: what.number.E164(), First: what.first.Format(time.DateOnly), Last: what.last.Format(time.DateOnly),
		MadeAt: s.Now().UTC().Truncate(time.Second), Rows: []Row{},
	}
	err := (&journal.Search{
		Pool: cmp.Or(s.Read, s.Pool), Files: s.Files, From: what.first, To: what.last.AddDate(0, 0, 1), Numbers: []int64{number},
		Match:      func(n, _ int64) bool { return n == number },
		OnProgress: onProgress, OnErased: func(n int64) { erased.Add(n) },
	}).Run(ctx, func(e *record.Entry) error {
		count.add(e)
		r.Answers++
		if e.Extra != "" {
			r.WithDetails++
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	r.Erased = erased.Load()
	names, err := s.Registry.Names(ctx, count.entities())
	if err != nil {
		return Report{}, err
	}
	r.Rows = count.rows(func(id uuid.UUID) string { return cmp.Or(names[id].Name, id.String()) })
	return r, nil
}

// group has the fields that the answers of one row share.
type group struct {
	entity uuid.UUID
	row    Row // without the organisation and the number of answers
}

// counts has the number of answers of each group.
type counts map[group]int

func (c counts) add(e *record.Entry) {
	c[group{e.Entity, Row{
		Purpose: e.Purpose, PurposeText: e.PurposeText, OnBehalfOf: e.OnBehalfOf, Month: e.At.UTC().Format("2006-01"),
		Status: e.Status, Reason: e.Reason, Network: e.MobileNetwork,
	}}]++
}

func (c counts) entities() (ids []uuid.UUID) {
	for g := range c {
		ids = append(ids, g.entity)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// rows returns the rows by organisation, purpose and month. Two organisations of one
// name stay two.
func (c counts) rows(name func(uuid.UUID) string) []Row {
	type named struct {
		entity uuid.UUID
		Row
	}
	all := make([]named, 0, len(c))
	for g, n := range c {
		row := g.row
		row.Organisation, row.Answers = name(g.entity), n
		all = append(all, named{g.entity, row})
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.Organisation, b.Organisation), slices.Compare(a.entity[:], b.entity[:]), cmp.Compare(a.Purpose, b.Purpose), cmp.Compare(a.PurposeText, b.PurposeText),
			cmp.Compare(a.OnBehalfOf, b.OnBehalfOf), cmp.Compare(a.Month, b.Month), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Network, b.Network))
	})
	rows := make([]Row, len(all))
	for i := range all {
		rows[i] = all[i].Row
	}
	return rows
}

// organisations returns how many organisations asked. Two of one name count once.
func (r *Report) organisations() int {
	names := make(map[string]bool)
	for i := range r.Rows {
		names[r.Rows[i].Organisation] = true
	}
	return len(names)
}
