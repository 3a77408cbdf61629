package approvals

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/csvfile"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// maxExported is the most entries that one export has. A longer period is exported
// in several files, by dates.
const maxExported = 100_000

var errInvalidFilter = fault.New(fault.InvalidArgument, "The filter of this export is invalid. Set it in the audit trail and export from there.")

var trailColumns = []string{"at", "action", "actorKind", "actorId", "actorName", "from", "subject", "entityUid", "requestId", "entryId", "before", "after"}

// exportTrail serves GET /portal/export/audit.csv: the entries that match
// the filter, the newest first, sent while they are read.
func (p *Pages) exportTrail(w http.ResponseWriter, r *http.Request) error {
	f, form := trailFilter(r)
	if form.Wrong() {
		return errInvalidFilter
	}
	f.Before, f.Limit = uuid.Nil, audit.MaxPage
	list, err := p.readTrail(r, f)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "text/csv; charset=utf-8", "audit-"+p.Now().UTC().Format(time.DateOnly)+".csv")
	out := portal.NewCSV(w)
	if err := p.trailPages(r, f, list, out); err != nil {
		portal.AbortDownload(w, r, err) // an incomplete file must not look complete
	}
	return nil
}

func (p *Pages) readTrail(r *http.Request, f audit.Filter) (list []audit.Record, err error) {
	err = p.ReadExported(r.Context(), func() (err error) {
		list, err = audit.List(r.Context(), p.Pool, f)
		return err
	})
	return list, err
}

func (p *Pages) trailPages(r *http.Request, f audit.Filter, list []audit.Record, out *csvfile.Writer) error {
	if err := out.Write(trailColumns); err != nil {
		return err
	}
	for sent := 0; ; {
		names, err := TrailNames(r, p.Portal, list)
		if err != nil {
			return err
		}
		for i := range list {
			if err := out.Write(trailCells(&list[i], names)); err != nil {
				return err
			}
		}
		out.Flush()
		if sent += len(list); out.Error() != nil || len(list) < f.Limit || sent >= maxExported {
			return out.Error()
		}
		f.Before = list[len(list)-1].ID
		if list, err = p.readTrail(r, f); err != nil {
			return err
		}
	}
}

func trailCells(e *audit.Record, names portal.ActorNames) []string {
	idText := func(id uuid.UUID) string {
		if id == uuid.Nil {
			return ""
		}
		return id.String()
	}
	facts := func(fields map[string]any) string {
		if fields == nil {
			return ""
		}
		text, err := json.Marshal(fields)
		if err != nil {
			return ""
		}
		return string(text)
	}
	from := ""
	if e.Actor.From.IsValid() {
		from = e.Actor.From.String()
	}
	return []string{
		e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), string(e.Action), string(e.Actor.Kind), idText(e.Actor.ID), names.Name(e.Actor), from,
		e.Subject.String(), idText(e.Entity), idText(e.Request), e.ID.String(), facts(e.Before), facts(e.After),
	}
}
