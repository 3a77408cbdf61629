package portal

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
)

// mostTrail is how many entries an export has at most. Whoever wants more takes
// it in pieces, by dates.
const mostTrail = 100_000

var trailColumns = []string{"at", "action", "actorKind", "actorId", "actorName", "from", "subject", "entityUid", "requestId", "entryId", "before", "after"}

// exportTrail serves GET /portal/export/audit.csv: the entries that the filter
// means, the newest first, sent as they are read.
func (p *Portal) exportTrail(w http.ResponseWriter, r *http.Request) error {
	f, form := trailFilter(r.URL.Query())
	if form.Wrong() {
		return errFilter
	}
	f.Before, f.Limit = uuid.Nil, audit.MaxPage
	list, err := audit.List(r.Context(), p.Pool, f)
	if err != nil {
		return err
	}
	beginFile(w, "text/csv; charset=utf-8", "audit-"+p.Now().UTC().Format(time.DateOnly)+".csv")
	out := csv.NewWriter(w)
	out.UseCRLF = true // as RFC 4180 has it
	if err := p.trailPages(r, f, list, out); err != nil {
		breakOff(w, r, err) // a file that ends early must not look whole
	}
	return nil
}

func (p *Portal) trailPages(r *http.Request, f audit.Filter, list []audit.Written, out *csv.Writer) error {
	if err := out.Write(trailColumns); err != nil {
		return err
	}
	for sent := 0; ; {
		names, err := p.trailCast(r, list)
		if err != nil {
			return err
		}
		for i := range list {
			if err := out.Write(safeCells(trailCells(&list[i], names))); err != nil {
				return err
			}
		}
		out.Flush()
		if sent += len(list); out.Error() != nil || len(list) < f.Limit || sent >= mostTrail {
			return out.Error()
		}
		f.Before = list[len(list)-1].ID
		if list, err = audit.List(r.Context(), p.Pool, f); err != nil {
			return err
		}
	}
}

func trailCells(e *audit.Written, names cast) []string {
	text := func(id uuid.UUID) string {
		if id == uuid.Nil {
			return ""
		}
		return id.String()
	}
	facts := func(fields map[string]any) string {
		if fields == nil {
			return ""
		}
		said, err := json.Marshal(fields)
		if err != nil {
			return ""
		}
		return string(said)
	}
	from := ""
	if e.Actor.From.IsValid() {
		from = e.Actor.From.String()
	}
	return []string{
		e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), string(e.Action), string(e.Actor.Kind), text(e.Actor.ID), names.name(e.Actor), from,
		e.Subject.String(), text(e.Entity), text(e.Request), e.ID.String(), facts(e.Before), facts(e.After),
	}
}
