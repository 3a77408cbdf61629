package operators

import (
	"bufio"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// rejectedShown is the number of rejected rows on a page; the CSV file has all.
const rejectedShown = 25

// rejectedRows returns one page of the rejected rows of an import, with the totals by
// reason. Staff see numbers by their last two digits.
func (s Supply) rejectedRows(r *http.Request, im *supply.Import, href string) (d RejectedData, err error) {
	totals, err := filerows.Totals(r.Context(), s.Pool, im.Key())
	if err != nil || len(totals) == 0 {
		return d, err
	}
	d.Of, d.All, d.Values = im.Counts.Refused, href+"#rejected", !portal.VisitOf(r).Has(portal.Staff)
	f := filerows.Filter{Import: im.Key(), After: parsePlace(web.Cursor(r)), Limit: rejectedShown + 1}
	for _, t := range totals {
		row := ReasonTotal{Reason: t.Reason, Meaning: rejectionMeaning(t.Reason), N: t.N, Href: href + "?reason=" + url.QueryEscape(t.Reason) + "#rejected"}
		if row.Active = t.Reason == r.URL.Query().Get("reason"); row.Active {
			f.Reason, d.Reason = t.Reason, t.Reason
		}
		d.Totals, d.Stored = append(d.Totals, row), d.Stored+t.N
	}
	list, err := filerows.FindRejected(r.Context(), s.Pool, f)
	if err != nil {
		return d, err
	}
	list, next := web.CutPage(list, rejectedShown, func(row *filerows.Rejected) string { return strconv.FormatInt(row.Line, 10) + "." + row.Column })
	for i := range list {
		row := &list[i]
		if !d.Values {
			hideNumber(row)
		}
		d.Rows = append(d.Rows, RejectedRow{Line: row.Line, Column: row.Column, Reason: row.Reason, Meaning: rejectionMeaning(row.Reason), Number: row.Number, Value: row.Value})
	}
	query := url.Values{}
	if d.Reason != "" {
		query.Set("reason", d.Reason)
	}
	links := web.PageLinks(&http.Request{URL: &url.URL{Path: href, RawQuery: query.Encode()}}, web.Cursor(r), next)
	d.First, d.Next = links.First, links.Next
	return d, nil
}

// parsePlace reads the cursor of a list of rejected rows; another text is the first page.
func parsePlace(text string) (p filerows.Place) {
	number, column, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return p
	}
	return filerows.Place{Line: n, Column: column}
}

// hideNumber leaves the last two digits of a number that stands in a file.
func hideNumber(row *filerows.Rejected) {
	row.Number = lastDigits(row.Number)
	if row.Column == "number" {
		row.Value = row.Number
	}
}

func lastDigits(number string) string {
	if len(number) < 6 {
		return strings.Repeat("…", min(len(number), 1))
	}
	end := number[len(number)-2:]
	if strings.Trim(end, "0123456789") != "" {
		return "…"
	}
	return "…" + end
}

// rejectionMeaning explains the code with which a row was rejected.
func rejectionMeaning(reason string) string {
	if text, ok := rejectionMeanings[reason]; ok {
		return text
	}
	for _, r := range linefile.Reasons() {
		if r.Reason == reason {
			return strings.ReplaceAll(r.Meaning, "`", "")
		}
	}
	return ""
}

// rejectionMeanings explain the codes that are not about the file format alone;
// package linefile explains those.
var rejectionMeanings = map[string]string{
	"BAD_VALUE":         "the column does not accept this value with this type",
	"BLACKLISTED":       "the number is blacklisted, and no new tenure can start",
	"CONTRADICTS":       "it contradicts what was reported before",
	"DUPLICATE":         "the number appears in the file more than once",
	"ID_REUSED":         "another event has this id",
	linefile.NotAllowed: "the column does not accept this value here",
	"NOT_ALLOCATED":     "the number is in no range that was allocated at that time",
	"NOT_FOUND":         "no event about this number has that id",
	"NOT_YOURS":         "the number was not with this network at that time",
	"PORTED_OUT":        "the number has moved to another network",
	"TOO_MANY_EVENTS":   "this network has reported too many events about the number",
	"TOO_MANY_WAITING":  "too many events of this network wait for a port; send it again later",
	"TOO_SOON":          "the churn notice came too late",
	"VOIDED":            "the event is withdrawn already",
}

// SendRejectedRows sends the rejected rows as a CSV file, on request with numbers and
// values, which only the sender of the file may have. A failure before the first byte is
// returned; after it, the connection is cut so that the file does not look complete.
func (s Supply) SendRejectedRows(w http.ResponseWriter, r *http.Request, im supply.Import) error {
	values := r.URL.Query().Get("values") == "yes" && !portal.VisitOf(r).Has(portal.Staff)
	out := &download{w: w, kind: "text/csv; charset=utf-8", name: "rejected-" + im.ID.String() + ".csv"}
	buffered := bufio.NewWriter(out)
	err := filerows.WriteCSV(r.Context(), s.Pool, im.Key(), buffered, values)
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil && out.started {
		portal.AbortDownload(w, r, err)
		return nil
	}
	return err
}

// download sends the headers of a file with its first bytes, so that an error
// before them can still become an error page.
type download struct {
	w          http.ResponseWriter
	kind, name string
	started    bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.started {
		d.started = true
		portal.StartDownload(d.w, d.kind, d.name)
	}
	return d.w.Write(b)
}
