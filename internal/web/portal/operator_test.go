package portal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/receipt"
)

const (
	eventsForm   = "events"
	snapshotForm = "snapshot"
)

// eventsFile has an event that is applied, one that is wrong and one about a number
// of another network.
var eventsFile = "id,number,type,effectiveAt\n" +
	"a,+2348030000001,ASSIGNED," + time.Now().AddDate(0, 0, -9).Format(time.DateOnly) + "\n" +
	"b,+2348030000002,ASSIGNED,never\n" +
	"c,+2348050000002,ASSIGNED,2026-01-01\n"

// lines is a snapshot of so many lines of MTN.
func lines(count int) string {
	var b strings.Builder
	b.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	for i := range count {
		fmt.Fprintf(&b, "+234803000%04d,2024-02-03,NEVER,ACTIVE,\n", i)
	}
	return b.String()
}

// daysAgo is a time as the field of a browser writes it.
func formTime(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format("2006-01-02T15:04") }

// sendLines sends the form of the supply page: its fields in their order, and then
// the file, if it has a name.
func (s *stack) sendLines(t testing.TB, who visitor, kind, asOf, dryRun, fileName, content string) *httptest.ResponseRecorder {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, field := range [][2]string{{"kind", kind}, {"asOf", asOf}, {"dryRun", dryRun}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	must(io.WriteString(must(form.CreateFormFile("file", fileName))(t), content))(t)
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := withBody(newRequest(http.MethodPost, "/portal/supply/imports", who.session, nil), b.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return s.do(t, r)
}

// sent uploads a file and returns the page of its import.
func (s *stack) sent(t testing.TB, who visitor, kind, asOf, content string) (page string) {
	t.Helper()
	res := s.sendLines(t, who, kind, asOf, "", "lines.csv", content)
	page = res.Header().Get("Location")
	if res.Code != http.StatusSeeOther || !strings.HasPrefix(page, "/portal/supply/imports/") {
		t.Fatalf("answered %d to %q: %s", res.Code, page, res.Body)
	}
	return page
}

// worked runs an import, as the service does by itself.
func (s *stack) worked(t testing.TB, page, state string) uuid.UUID {
	t.Helper()
	id := uuid.MustParse(page[strings.LastIndex(page, "/")+1:])
	from := supply.Source{Open: func() (io.ReadCloser, error) { return s.Lines.Files.Open(t.Context(), id.String()) }}
	if im := must(s.Lines.Run(t.Context(), id, from, nil))(t); im.State != state {
		t.Fatalf("the import is %s (%s), want %s", im.State, im.Reason, state)
	}
	return id
}

// held uploads MTN's forty lines, which are applied, and then half of them, which is
// held. It returns the page of that import.
func (s *stack) held(t testing.TB, who visitor) (page string, id uuid.UUID) {
	t.Helper()
	s.worked(t, s.sent(t, who, snapshotForm, formTime(1), lines(40)), supply.Finished)
	page = s.sent(t, who, snapshotForm, formTime(0), lines(20))
	return page, s.worked(t, page, supply.Held)
}

// wantReceipt checks that the page of an applied file leads to its receipt, and that the
// receipt is right.
func (s *stack) wantReceipt(t testing.TB, who visitor, page string, id uuid.UUID) {
	t.Helper()
	wantPage(t, s.get(t, page, who.session), http.StatusOK, page+"/receipt", "Download receipt")
	wantPage(t, s.get(t, page+"/receipt", who.session), http.StatusServiceUnavailable, "does not cover this file yet")
	s.publish(t)
	file := s.get(t, page+"/receipt", who.session)
	v := must(must(receipt.ParseSupply(file.Body.Bytes()))(t).Verify(must(receipt.NewPolicy(s.publisher.Key.Verifier()))(t)))(t)
	if name := file.Header().Get("Content-Disposition"); v.Import != id.String() || v.Supplier != "MTN" || name != `attachment; filename="receipt-`+id.String()+`.json"` {
		t.Errorf("the file %s proves %+v", name, v)
	}
}

// linesKnown counts MTN's lines.
func (s *stack) linesKnown(t testing.TB) int64 {
	t.Helper()
	return must(s.Lines.NetworkStatuses(t.Context(), "MTN", time.Time{}))(t)[0].Lines
}

// An operator's people see the status of its supply, before it ever supplied and
// after.
func TestOperatorsSeeTheirSupplyStatus(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	wantPage(t, s.get(t, "/portal/supply", telco.session), http.StatusOK,
		"never supplied", ">Never supplied<", "No files yet", "No events reported yet", "No complete snapshot yet", "data-upload", `name="dryRun"`, "MTN", "No measurements yet.")
	s.worked(t, s.sent(t, telco, snapshotForm, formTime(1), lines(40)), supply.Finished)
	who := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Actor: access.Operator}
	ended := time.Now().AddDate(0, 0, -29).Format(time.RFC3339)
	must(s.Lines.ApplyEvents(t.Context(), who, []supply.Item{
		{ID: "e1", PhoneNumber: "+2348030000001", Type: "ENDED", EffectiveAt: ended, Reason: "CHURNED"}, {ID: "e2", PhoneNumber: "1", Type: "USED", EffectiveAt: ended},
	}))(t)
	if err := s.Lines.RecordCoverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := s.get(t, "/portal/supply", telco.session)
	wantPage(t, res, http.StatusOK, "Supplying", "Applied", ">39<", "ENDED", "at the latest 7 days after the end", "mean 29 days",
		"Events and rows of files by day", "Applied: 40", "Applied, but reported late: 1", "Rejected: 1", "of 42 events and rows",
		"Coverage over time", "no data", s.Now().UTC().Format("2 Jan")+", Known: 39", "Up to 7 days: 24")
	// Whether the operator is up to date comes first, then the upload and the files; charts come last.
	body, last := res.Body.String(), 0
	for _, part := range []string{"Supplied through", "in your ranges", "Upload a file", ">Last file<", ">Files<", "Events and rows of files by day", "Compliance in the last", "Coverage over time"} {
		at := strings.Index(body, part)
		if at < last {
			t.Errorf("%q stands too early", part)
		}
		last = at
	}
	if strings.Contains(body, "Not supplying") {
		t.Error("a network that supplied yesterday is shown as not supplying")
	}

	s.Lines.Now = func() time.Time { return time.Now().AddDate(0, 0, 20) }
	s.Now = s.Lines.Now
	if err := s.Lines.RecordCoverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := s.openFor(t, telco)
	wantPage(t, s.get(t, "/portal/supply", other), http.StatusOK, "Known: 39", "Up to 7 days: 24", "Longer: answered with UNKNOWN: 504")
}

// An uploaded file can be followed until it is finished: the page of an import in
// progress refreshes itself, that of a finished one does not, and the rejected rows
// can be downloaded.
func TestImportsAreUploadedAndTracked(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	page := s.sent(t, telco, eventsForm, "", eventsFile)
	wantPage(t, s.get(t, page, telco.session), http.StatusOK, "Being checked", `hx-get="`+page+`/progress"`, "Refresh", page+"/withdraw")
	part := s.get(t, page+"/progress", telco.session)
	wantPage(t, part, http.StatusOK, "Being checked", `hx-get="`+page+`/progress"`)
	if strings.Contains(part.Body.String(), "<html") || strings.Contains(part.Body.String(), "/withdraw") {
		t.Error("the part is a whole page, or takes a button away under the finger every two seconds")
	}
	id := s.worked(t, page, supply.Finished)
	if im := must(s.Lines.Import(t.Context(), id))(t); im.Source != "portal" {
		t.Errorf("the file came by %s", im.Source)
	}
	wantPage(t, s.get(t, page, telco.session), http.StatusOK, "Sent with", "Portal")
	for _, address := range []string{page, page + "/progress"} {
		res := s.get(t, address, telco.session)
		wantPage(t, res, http.StatusOK, "Applied", "Events applied", "BAD_FORMAT", "effectiveAt", "NOT_YOURS", "the number was not with this network",
			">never<", ">+2348030000002<", ">+2348050000002<", "50.0%", page+"?reason=BAD_FORMAT#rejected")
		if strings.Contains(res.Body.String(), "hx-get") || strings.Contains(res.Body.String(), "/withdraw") {
			t.Error("what is over asks for itself again, or can be withdrawn")
		}
	}
	file := s.get(t, page+"/refused.csv", telco.session)
	if h := file.Header(); file.Body.String() != "line,column,reason\n3,effectiveAt,BAD_FORMAT\n4,number,NOT_YOURS\n" ||
		h.Get("Content-Disposition") != `attachment; filename="rejected-`+id.String()+`.csv"` || !strings.HasPrefix(h.Get("Content-Type"), "text/csv") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the refused rows came as %v: %q", h, file.Body)
	}
	if file := s.get(t, page+"/refused.csv?values=yes", telco.session).Body.String(); file != "line,column,reason,number,value\n3,effectiveAt,BAD_FORMAT,'+2348030000002,never\n4,number,NOT_YOURS,'+2348050000002,'+2348050000002\n" {
		t.Errorf("with values: %q", file)
	}
	only := s.get(t, page+"?reason=NOT_YOURS", telco.session)
	wantPage(t, only, http.StatusOK, "Only rows with the reason NOT_YOURS", ">+2348050000002<", page+"?reason=BAD_FORMAT#rejected")
	if strings.Contains(only.Body.String(), ">+2348030000002<") {
		t.Error("a row with another reason is listed")
	}
	for _, query := range []string{"?reason=NOTHING", "?after=x", "?after=-1.number"} {
		wantPage(t, s.get(t, page+query, telco.session), http.StatusOK, ">+2348030000002<", ">+2348050000002<")
	}
	wantPage(t, s.get(t, page+"?after=3.effectiveAt", telco.session), http.StatusOK, ">+2348050000002<", "First page")
	s.wantReceipt(t, telco, page, id)
	wantPage(t, s.get(t, "/portal/supply", telco.session), http.StatusOK, page, "Applied")

	dry := s.sendLines(t, telco, snapshotForm, formTime(1), "yes", "lines.csv", lines(3)).Header().Get("Location")
	s.worked(t, dry, supply.Checked)
	wantPage(t, s.get(t, dry, telco.session), http.StatusOK, "Dry run finished", "Expected changes", "New lines")
	if n := s.linesKnown(t); n != 1 {
		t.Errorf("%d lines are known, want only the one of the events", n)
	}
}

// A held snapshot shows its sender what it would change. They can confirm that it is
// intentional, which decides nothing, and withdraw it; they cannot confirm it.
func TestOperatorsCannotConfirmTheirOwnFiles(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	page, id := s.held(t, telco)
	wantPage(t, s.get(t, page, telco.session), http.StatusOK, "This file is on hold.", "end 20 of 40", "Expected changes", "tenure ends", page+"/mean", page+"/withdraw")
	wantPage(t, s.get(t, page+"/mean", telco.session), http.StatusOK, "data-confirm", "end 20 of 40")
	wantGo(t, s.post(t, page+"/mean", telco.session, url.Values{}), page)
	wantPage(t, s.get(t, page, telco.session), http.StatusOK, "Held", "confirmed just now that it is intentional")
	for _, way := range []string{page + "/confirm", "/portal/desk/supply/imports/" + id.String() + "/confirm", "/portal/desk/supply/imports/" + id.String() + "/cancel"} {
		wantPage(t, s.post(t, way, telco.session, url.Values{"confirm": {"MTN"}}), http.StatusNotFound)
	}
	if im := must(s.Lines.Import(t.Context(), id))(t); im.State != supply.Held {
		t.Fatalf("the import is %s", im.State)
	}
	wantPage(t, s.get(t, page+"/withdraw", telco.session), http.StatusOK, "data-confirm")
	wantGo(t, s.post(t, page+"/withdraw", telco.session, url.Values{}), page)
	wantPage(t, s.get(t, page, telco.session), http.StatusOK, "Cancelled")
	wantPage(t, s.post(t, page+"/withdraw", telco.session, url.Values{}), http.StatusConflict, "This import is finished")
	if n := s.linesKnown(t); n != 40 {
		t.Errorf("%d lines are known, want 40", n)
	}
	list := must(audit.List(t.Context(), s.pool, audit.Filter{Subject: id, Actor: telco.id}))(t)
	if len(list) != 3 || list[0].Action != audit.ImportCancelled || list[1].Action != audit.ImportMeant || list[2].Action != audit.ImportBegun {
		t.Errorf("the trail has %+v", list)
	}
}

// The errors of an upload are shown at the form, and nothing of it is stored.
func TestInvalidImportUploadsAreExplained(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	for name, tried := range map[string]struct {
		kind, asOf, file, content, want string
		status                          int
	}{
		"no file":        {eventsForm, "", "", "", `id="error-file"`, http.StatusUnprocessableEntity},
		"no kind":        {"", "", "x.csv", eventsFile, `id="error-kind"`, http.StatusUnprocessableEntity},
		"another time":   {eventsForm, "soon", "x.csv", eventsFile, `id="error-asOf"`, http.StatusUnprocessableEntity},
		"no time":        {snapshotForm, "", "x.csv", lines(1), `id="error-asOf"`, http.StatusUnprocessableEntity},
		"a time to come": {snapshotForm, "2999-01-01T00:00", "x.csv", lines(1), `id="error-asOf"`, http.StatusUnprocessableEntity},
		"too large":      {eventsForm, "", "x.csv", strings.Repeat("x", 3<<20), "larger than the service accepts", http.StatusRequestEntityTooLarge},
	} {
		t.Log(name)
		wantPage(t, s.sendLines(t, telco, tried.kind, tried.asOf, "", tried.file, tried.content), tried.status, tried.want)
	}
	broken := withBody(newRequest(http.MethodPost, "/portal/supply/imports", telco.session, nil), "--x\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nevents\r\n--x\r\n"+
		"Content-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\n\r\nid,number")
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	wantPage(t, s.do(t, broken), http.StatusUnprocessableEntity, "did not arrive completely")
	list, _, err := s.Lines.ImportPage(t.Context(), supply.ImportFilter{Limit: 9})
	if err != nil || len(list) != 0 {
		t.Errorf("%d imports were made, %v", len(list), err)
	}
	page := s.sent(t, telco, eventsForm, "", eventsFile)
	res := s.sendLines(t, telco, snapshotForm, formTime(1), "yes", "x.csv", lines(1))
	wantPage(t, res, http.StatusConflict, "An earlier import of yours is not finished", `<option value="snapshot" selected>`, page)
}

// Imports of another network do not exist for an operator, and an organisation that
// supplies nothing has no such pages.
func TestImportsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, bank := s.as(t, "telco"), s.as(t, "admin")
	own := s.sent(t, telco, eventsForm, "", eventsFile)
	glo := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "GLO", Actor: access.Operator}
	im := must(s.Lines.Begin(t.Context(), glo, supply.ImportForm{Kind: linefile.Events}, "cli"))(t)
	for _, tried := range []struct {
		who  visitor
		page string
	}{{telco, "/portal/supply/imports/" + im.ID.String()}, {telco, "/portal/supply/imports/" + uuid.NewString()}, {bank, own}} {
		for _, rest := range []string{"", "/progress", "/refused.csv", "/receipt", "/mean", "/withdraw"} {
			wantPage(t, s.get(t, tried.page+rest, tried.who.session), http.StatusNotFound)
		}
		for _, rest := range []string{"/mean", "/withdraw"} {
			wantPage(t, s.post(t, tried.page+rest, tried.who.session, url.Values{}), http.StatusNotFound)
		}
	}
	if got := must(s.Lines.Import(t.Context(), im.ID))(t); got.State != supply.Checking {
		t.Errorf("the other network's import is %s", got.State)
	}
	if body := s.get(t, "/portal/supply", telco.session).Body.String(); strings.Contains(body, im.ID.String()) {
		t.Error("the list has another network's import")
	}
}

// When the client that onboarded an organisation may no longer supply, neither may
// its people: the page says so and shows nothing of the network.
func TestPeopleSupplyOnlyAsTheirClientMay(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	page := s.sent(t, telco, eventsForm, "", eventsFile)
	client := must(s.Registry.Entity(t.Context(), s.telco.ID))(t).Client
	if err := s.Access.SuspendClient(t.Context(), client, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	res := s.get(t, "/portal/supply", telco.session)
	wantPage(t, res, http.StatusOK, "Your organisation has no network")
	if strings.Contains(res.Body.String(), "MTN") {
		t.Error("the page speaks of the network")
	}
	wantPage(t, s.get(t, page, telco.session), http.StatusNotFound)
	wantPage(t, s.sendLines(t, telco, eventsForm, "", "", "x.csv", eventsFile), http.StatusConflict)
	if err := s.Access.ResumeClient(t.Context(), client, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.get(t, page, telco.session), http.StatusOK)
}

// A file is written to disk while it arrives: what has arrived is on disk before the
// rest is sent, and is deleted when the rest never comes.
func TestImportUploadsAreStreamed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, dir := s.as(t, "telco"), t.TempDir()
	s.Lines.Files, s.telcoPages.ImportMaxBytes = must(blob.OpenDir(dir))(t), 16<<20
	body, send := io.Pipe()
	r := newRequest(http.MethodPost, "/portal/supply/imports", telco.session, nil)
	fresh := httptest.NewRequestWithContext(context.Background(), r.Method, r.URL.String(), body)
	fresh.Header = r.Header
	fresh.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() { done <- serve(s.handler, fresh) }()
	must(io.WriteString(send, "--x\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nevents\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\n\r\n"))(t)
	for range 64 {
		must(io.WriteString(send, strings.Repeat("a line\n", 1<<13)))(t)
	}
	if n := sizeOf(t, dir); n < 2<<20 {
		t.Errorf("%d bytes are on the disk", n)
	}
	send.CloseWithError(io.ErrUnexpectedEOF)
	wantPage(t, <-done, http.StatusUnprocessableEntity, "did not arrive completely")
	if n := sizeOf(t, dir); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// sizeOf counts the bytes of the files below a directory.
func sizeOf(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
