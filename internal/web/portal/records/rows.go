package records

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// RecordsShown is the number of journal records on one page.
const RecordsShown = 50

// RecordFilter reads which records are requested. The form lists what is invalid.
func RecordFilter(q url.Values) (tally.Filter, kit.Form) {
	form := kit.Form{Values: q}
	f := tally.Filter{Mode: q.Get("mode"), Status: q.Get("status")}
	portal.AddFieldError(&form, slices.Contains([]string{"", access.Live, access.Test}, f.Mode), "mode", "Choose live or test.")
	portal.AddFieldError(&form, f.Status == "" || slices.Contains(line.Statuses, line.Status(f.Status)), "status", "Choose one of the statuses.")
	f.From, f.To = portal.ReadDates(q, &form)
	if text := q.Get("after"); text != "" {
		f.After, _ = parseCursor(text) // an invalid cursor shows the first page
	}
	return f, form
}

// CursorText writes the position of a record, which parseCursor reads.
func CursorText(at journal.Position) string {
	if at.At.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.At.UnixMilli(), 10) + "." + at.ID.String()
}

func parseCursor(text string) (journal.Position, bool) {
	at, id, _ := strings.Cut(text, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<42 {
		return journal.Position{}, false
	}
	record, err := uuid.Parse(id)
	if err != nil {
		return journal.Position{}, false
	}
	return journal.Position{At: time.UnixMilli(ms).UTC(), ID: record}, true
}

// KeyNames returns the names of the keys with which an organisation made the
// requests that are recorded.
func KeyNames(r *http.Request, keys *access.Service, entity uuid.UUID, records []record.Entry) (map[uuid.UUID]string, error) {
	ids := make([]uuid.UUID, len(records))
	for i := range records {
		ids[i] = records[i].Key
	}
	return keys.KeyNames(r.Context(), entity, ids)
}

// RecordRows returns records as rows, with the names of their keys.
func RecordRows(r *http.Request, keys *access.Service, entity uuid.UUID, records []record.Entry) ([]RecordRow, error) {
	names, err := KeyNames(r, keys, entity, records)
	if err != nil {
		return nil, err
	}
	rows := make([]RecordRow, len(records))
	for i := range records {
		rows[i] = recordRow(&records[i], names)
	}
	return rows, nil
}

// dataOf returns everything that the page of one record shows.
func dataOf(r *http.Request, keys *access.Service, e *record.Entry, now time.Time) (RecordData, error) {
	rows, err := RecordRows(r, keys, e.Entity, []record.Entry{*e})
	if err != nil {
		return RecordData{}, err
	}
	return RecordData{
		Row: rows[0], Hash: portal.HexSum(e.Hash()), LineVersion: e.LineVersion, PolicyVersion: int64(e.PolicyVersion), PlanVersion: int64(e.PlanVersion), Now: now,
	}, nil
}

// numberOf returns the number as it was sent, if it was not erased.
func numberOf(e *record.Entry) string {
	if e.Erased() {
		return "erased"
	}
	return e.PhoneNumber
}

func recordRow(e *record.Entry, names map[uuid.UUID]string) RecordRow {
	return RecordRow{
		ID: e.RequestID.String(), At: e.At, Number: numberOf(e), Status: e.Status, Tone: kit.StatusTone(e.Status), Network: e.MobileNetwork, Mode: e.Mode,
		Key: names[e.Key], KeyID: e.Key.String(), Purpose: cmp.Or(e.PurposeText, e.Purpose), Correlator: e.Correlator, Options: e.Options, Extra: kit.IndentJSON([]byte(e.Extra)),
	}
}

// StatusNames returns all statuses of a line, for a list to choose from.
func StatusNames() []string {
	names := make([]string, len(line.Statuses))
	for i, status := range line.Statuses {
		names[i] = string(status)
	}
	return names
}
