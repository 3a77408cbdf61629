package records

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
)

var errFilter = fault.New(fault.InvalidArgument, "The filter of this export is invalid. Set it in the journal and export from there.")

// exportCSV serves GET /portal/export/journal.csv, and exportNDJSON GET
// /portal/export/journal.ndjson: the records that match the journal's filter, the
// newest first.
func (p *Pages) exportCSV(w http.ResponseWriter, r *http.Request) error {
	out := portal.NewCSV(w)
	return p.export(w, r, "text/csv; charset=utf-8", "csv", func(name string, e *record.Entry) error {
		if e == nil {
			if err := out.Write(exportColumns); err != nil {
				return err
			}
		} else if err := out.Write(exportRow(e, name)); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	})
}

func (p *Pages) exportNDJSON(w http.ResponseWriter, r *http.Request) error {
	return p.export(w, r, "application/x-ndjson", "ndjson", func(name string, e *record.Entry) error {
		if e == nil {
			return nil
		}
		line := map[string]any{}
		for i, value := range exportRow(e, name) {
			line[exportColumns[i]] = value
		}
		delete(line, "said")
		if e.Extra != "" {
			line["said"] = json.RawMessage(e.Extra)
		}
		text, err := json.Marshal(line)
		if err == nil {
			_, err = w.Write(append(text, '\n'))
		}
		return err
	})
}

var exportColumns = []string{
	"verificationTimestamp", "requestId", "number", "phoneNumber", "status", "mobileNetwork", "mode", "keyId", "keyName", "purpose", "purposeText", "correlator", "externalId", "onBehalfOf", "options", "said",
}

func exportRow(e *record.Entry, keyName string) []string {
	return []string{
		e.At.UTC().Format("2006-01-02T15:04:05.000Z"), e.RequestID.String(), strconv.FormatInt(e.Number, 10), e.PhoneNumber, e.Status, e.MobileNetwork, e.Mode,
		e.Key.String(), keyName, e.Purpose, e.PurposeText, e.Correlator, e.ExternalID, e.OnBehalfOf, e.Options, e.Extra,
	}
}

// export sends records while it reads them. Write is called once without a record
// before the first one.
func (p *Pages) export(w http.ResponseWriter, r *http.Request, kind, extension string, write func(keyName string, e *record.Entry) error) error {
	f, form := recordFilter(r.URL.Query())
	if form.Wrong() {
		return errFilter
	}
	f.Entity, f.Limit, f.After = portal.VisitOf(r).Who.Entity, tally.MaxRecords, journal.Position{}
	var page tally.Page
	if err := p.readExported(r, f, &page); err != nil {
		return err
	}
	portal.StartDownload(w, kind, "journal-"+p.Now().UTC().Format(time.DateOnly)+"."+extension)
	if err := p.exportPages(r, f, page, write); err != nil {
		portal.AbortDownload(w, r, err) // an incomplete file must not look complete
	}
	return nil
}

func (p *Pages) readExported(r *http.Request, f tally.Filter, page *tally.Page) error {
	return p.ReadExported(r.Context(), func() (err error) {
		*page, err = p.Tally.Records(r.Context(), f)
		return err
	})
}

func (p *Pages) exportPages(r *http.Request, f tally.Filter, page tally.Page, write func(string, *record.Entry) error) error {
	if err := write("", nil); err != nil {
		return err
	}
	for {
		names, err := KeyNames(r, p.Access, f.Entity, page.Records)
		if err != nil {
			return err
		}
		for i := range page.Records {
			if err := write(names[page.Records[i].Key], &page.Records[i]); err != nil {
				return err
			}
		}
		if page.Next.At.IsZero() {
			return nil
		}
		f.After = page.Next
		if err := p.readExported(r, f, &page); err != nil {
			return err
		}
	}
}
