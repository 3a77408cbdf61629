package portal_test

import (
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// handIn uploads a plan as a browser does. The fields other than the file may be
// empty.
func (s *stack) handIn(t testing.TB, path, session string, fields map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for name, value := range fields {
		if name == "upload" {
			part := must(form.CreateFormFile("file", "plan.csv"))(t)
			must(part.Write([]byte(value)))(t)
			continue
		}
		if err := form.WriteField(name, strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", "\n"), "\n", "\r\n")); err != nil { // as browsers do
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := withBody(newRequest(http.MethodPost, path, session, nil), b.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return s.do(t, r)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-zA-Z]+)" value="([^"]*)"`)

// hidden returns the hidden fields of the page's form.
func hidden(body string) map[string]string {
	fields := map[string]string{}
	for _, m := range hiddenField.FindAllStringSubmatch(body, -1) {
		fields[m[1]] = html.UnescapeString(m[2])
	}
	return fields
}

func (s *stack) planText(t testing.TB) string {
	t.Helper()
	res := s.get(t, "/portal/export/plan.csv", s.as(t, "auditor").session)
	wantPage(t, res, http.StatusOK, "prefix,network,name,allocated,withdrawn")
	return res.Body.String()
}

func (s *stack) planNow(t testing.TB) *numbering.Plan {
	t.Helper()
	return must(numbering.Current(t.Context(), s.pool, time.Now()))(t)
}

// The plan is shown with its ranges, by network and prefix, and its download can be
// uploaded again.
func TestPlanIsShownAndFiltered(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	page := s.get(t, "/portal/desk/plan", auditor.session)
	wantPage(t, page, http.StatusOK, "Version 1", "Active", "234803", "142,000,000", "Airtel", "1 Aug 2001", "/portal/export/plan.csv?version=1")
	if strings.Contains(page.Body.String(), "/portal/desk/new-plan") {
		t.Error("an auditor is offered to hand in a plan")
	}
	glo := s.get(t, "/portal/desk/plan?network=GLO&prefix=%2B23480", auditor.session)
	wantPage(t, glo, http.StatusOK, "234805")
	if strings.Contains(glo.Body.String(), `<code class="mono">234803</code>`) {
		t.Error("the filter lets another network through")
	}
	wantPage(t, s.get(t, "/portal/desk/plan?prefix=1", auditor.session), http.StatusOK, "No ranges")
	for _, version := range []string{"7", "-1", "x", "99999999999"} {
		wantPage(t, s.get(t, "/portal/desk/plan?version="+version, auditor.session), http.StatusNotFound)
	}
	if rows := must(numbering.ReadCSV(strings.NewReader(s.planText(t))))(t); len(rows) != len(s.planNow(t).Ranges()) {
		t.Errorf("the download has %d ranges", len(rows))
	}
}

// A file is previewed first, which changes nothing; a second person sees the same
// changes, and their confirmation creates the version.
func TestPlanIsSetAfterPreview(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	text := strings.Replace(s.planText(t), "234801,MAFAB,MAFAB,2001-08-01,", "234801,MAFAB,MAFAB,2001-08-01,2026-01-01\n234801,GLO,Glo,2026-01-01,", 1)
	text = strings.Replace(text, "2347020,SMILE,Smile,2001-08-01,", "2347020,SMILE,Smile,2001-08-01,2026-02-01", 1) + "234914,NEW,Newcomer,2026-03-01,\n"
	wantPage(t, s.get(t, "/portal/desk/new-plan", boss.session), http.StatusOK, `name="file"`, "nothing is saved until you confirm")
	preview := s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": text, "source": " A letter "})
	wantPage(t, preview, http.StatusOK, "Moved", "MAFAB", "Withdrawn", "2347020", "Added", "234914", "Newcomer", "Immediately", "Request version 2", "1 Mar 2026")
	if v := s.planNow(t).Version; v != 1 {
		t.Fatalf("version %d is in force after a preview", v)
	}
	fields := hidden(preview.Body.String())
	wantGo(t, s.handIn(t, "/portal/desk/plan", boss.session, fields), "/portal/desk/plan")
	if v := s.planNow(t).Version; v != 1 {
		t.Fatalf("version %d is in force after a request", v)
	}
	draft := "/portal/desk/plan/drafts/" + must(s.Approvals.List(t.Context(), false, 1))(t)[0].Subject.String()
	wantPage(t, s.get(t, draft, s.as(t, "auditor").session), http.StatusOK, "Moved", "MAFAB", "Withdrawn", "2347020", "Added", "234914", "Newcomer", "Immediately")
	wantNone(t, s.get(t, draft, boss.session).Body.String(), "Request version")
	wantPage(t, s.get(t, draft, boss.session), http.StatusOK, "Requested by", "You requested this.", ">Withdraw<")
	wantPage(t, s.get(t, draft, s.asAdministrator(t).session), http.StatusOK, "Waiting for a second person", ">Confirm<", ">Reject<")
	wantPage(t, s.get(t, "/portal/desk/plan/drafts/"+uuid.NewString(), boss.session), http.StatusNotFound)
	second := s.confirmed(t, numbering.SetKind, "Version 2", draft, "1 added, 1 withdrawn, 1 moved")
	now := s.planNow(t)
	if now.Version != 2 || now.Source != "A letter" || len(now.Ranges()) != 46 {
		t.Errorf("version %d with %d ranges, %q", now.Version, len(now.Ranges()), now.Source)
	}
	list := must(audit.List(t.Context(), s.pool, audit.Filter{Action: string(audit.PlanSet), Limit: 1}))(t)
	if len(list) != 1 || list[0].Actor.ID != second.id || list[0].After["askedBy"] != boss.id.String() {
		t.Errorf("the trail has %+v", list)
	}
	wantPage(t, s.get(t, "/portal/desk/plan?version=1", boss.session), http.StatusOK, "No longer active", "Version 2")
	wantPage(t, s.handIn(t, "/portal/desk/plan", boss.session, fields), http.StatusConflict, "a new version of the plan in the meantime")

	later := time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly)
	preview = s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": s.planText(t), "source": "again", "effectiveAt": later})
	wantPage(t, preview, http.StatusOK, "No range changes", "00:00\u00a0UTC")
	wantGo(t, s.handIn(t, "/portal/desk/plan", boss.session, hidden(preview.Body.String())), "/portal/desk/plan")
	s.confirmed(t, numbering.SetKind, "no ranges change")
	wantPage(t, s.get(t, "/portal/desk/plan?version=3", boss.session), http.StatusOK, "Scheduled")
	wantPage(t, s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": s.planText(t), "source": "x"}), http.StatusUnprocessableEntity, `id="error-effectiveAt"`, "The numbering plan page lists their times.")
}

// Only a plan that the same person has previewed can be set: not without a preview,
// not with another file, date or source, and not by another person.
func TestPlanWithoutPreviewIsNotSet(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, other, reviewer := s.promoted(t, s.as(t, "administrator")), s.promoted(t, s.as(t, "administrator")), s.as(t, "reviewer")
	text := s.planText(t) + "234914,NEW,Newcomer,2026-03-01,\n"
	shown := func() map[string]string {
		return hidden(s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": text, "source": "A letter"}).Body.String())
	}
	for name, change := range map[string]func(map[string]string){
		"no preview": func(f map[string]string) { delete(f, "seen") }, "another file": func(f map[string]string) { f["file"] = strings.Replace(text, "NEW,Newcomer", "GLO,Glo", 1) },
		"another source": func(f map[string]string) { f["source"] = "Hearsay" }, "another day": func(f map[string]string) { f["effectiveAt"] = "2999-01-01" },
		"another version": func(f map[string]string) { f["follows"] = "0" }, "no proof": func(f map[string]string) { f["seen"] = "%%" },
	} {
		fields := shown()
		change(fields)
		if res := s.handIn(t, "/portal/desk/plan", boss.session, fields); res.Code != http.StatusConflict {
			t.Errorf("%s: answered %d", name, res.Code)
		}
	}
	wantPage(t, s.handIn(t, "/portal/desk/plan", other.session, shown()), http.StatusConflict, "Review the changes first")
	wantPage(t, s.handIn(t, "/portal/desk/plan", reviewer.session, shown()), http.StatusNotFound)
	if v := s.planNow(t).Version; v != 1 {
		t.Errorf("version %d is in force", v)
	}
}

// The errors of a file are listed by line, and missing fields at the field.
func TestInvalidPlansAreExplained(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	wantPage(t, s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": "prefix,network,name,allocated,withdrawn\n0803,MTN,MTN,2001-08-01,\n", "source": "x"}),
		http.StatusUnprocessableEntity, "line 2, prefix: Write the first digits", "Nothing was changed")
	wantPage(t, s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"effectiveAt": "soon"}), http.StatusUnprocessableEntity,
		`id="error-file"`, `id="error-source"`, `id="error-effectiveAt"`)
	wantPage(t, s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": s.planText(t), "source": "x", "effectiveAt": "2020-01-01"}),
		http.StatusUnprocessableEntity, `id="error-effectiveAt"`)
	wantPage(t, s.post(t, "/portal/desk/new-plan", boss.session, nil), http.StatusUnprocessableEntity, "did not arrive completely")
	gone := s.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": "prefix,network,name,allocated,withdrawn\n234803,MTN,MTN,2001-08-01,\n", "source": "x"})
	wantPage(t, gone, http.StatusOK, "Removed", "together with their history", "No longer on the plan")
}
