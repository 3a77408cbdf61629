package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// To revoke an organisation its name has to be typed.
func TestOrganisationIsRevokedByItsName(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	at := deskPage(s.bank, "/revoke")
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Type “Harbour Bank” to confirm")
	wantPage(t, s.post(t, at, boss.session, url.Values{"reason": {"No licence"}, "confirm": {"Lagoon Bank"}}), http.StatusUnprocessableEntity, `id="error-confirm"`)
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Approved {
		t.Fatalf("the organisation is %s", e.Status)
	}
	wantGo(t, s.post(t, at, boss.session, url.Values{"reason": {"No licence"}, "confirm": {" Harbour  Bank "}}), deskPage(s.bank, ""))
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Revoked {
		t.Errorf("the organisation is %s", e.Status)
	}
}

// An organisation whose CAC number another one has, in any spelling, is shown with that
// one before it is created, and created only when somebody says that it is another.
func TestSameCACIsShownBeforeCreation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	form := url.Values{"name": {"Harbour Bank Two"}, "cac": {"RC-7"}, "email": {"two@harbour.example"}}
	page := s.post(t, "/portal/desk/new-entity", boss.session, form)
	wantPage(t, page, http.StatusUnprocessableEntity, "registered already", `href="`+deskPage(s.bank, "")+`"`, "This is another organisation", `id="error-another"`)
	if n := s.rows(t, "entity.created"); n != 2 { // those of the stack
		t.Fatalf("%d organisations were created", n)
	}
	form.Set("another", "yes")
	if res := s.post(t, "/portal/desk/new-entity", boss.session, form); res.Code != http.StatusSeeOther {
		t.Fatalf("answered %d: %s", res.Code, res.Body)
	}
	wantPage(t, s.get(t, "/portal/desk/new-entity", boss.session), http.StatusOK, "Organisation name")
}

// An administrator requires documents of an organisation, with a reason, and stops that
// again; a form that is sent twice changes nothing.
func TestDocumentsAreRequiredOfAnOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	at := deskPage(s.bank, "/documents/require")
	wantPage(t, s.get(t, deskPage(s.bank, "/documents"), boss.session), http.StatusOK, "No documents are required", "Require documents")
	if strings.Contains(s.get(t, deskPage(s.bank, "/documents"), s.as(t, "auditor").session).Body.String(), at) {
		t.Error("an auditor is offered the change")
	}
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "has to submit the documents", `name="required" value="yes"`)
	wantPage(t, s.post(t, at, boss.session, url.Values{"required": {"yes"}}), http.StatusUnprocessableEntity, `id="error-reason"`)
	form := url.Values{"required": {"yes"}, "reason": {"A new licence"}}
	wantGo(t, s.post(t, at, boss.session, form), deskPage(s.bank, "/documents"))
	wantPage(t, s.post(t, at, boss.session, form), http.StatusConflict, "This is so already")
	wantPage(t, s.get(t, deskPage(s.bank, "/documents"), boss.session), http.StatusOK, "CAC certificate", "Stop requiring documents")
	wantPage(t, s.get(t, "/portal/documents", s.as(t, "admin").session), http.StatusOK, "CAC certificate")
	wantGo(t, s.post(t, at, boss.session, url.Values{"required": {"no"}, "reason": {"A mistake"}}), deskPage(s.bank, "/documents"))
	if n := s.rows(t, "entity.documents_required"); n != 2 {
		t.Errorf("%d changes are in the trail", n)
	}
}

// An administrator records a mandate of an agent and ends it; staff see it, and one of
// another organisation is not found.
func TestMandatesAreRecordedAndEnded(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor := s.asAdministrator(t), s.as(t, "auditor")
	at := deskPage(s.bank, "/mandates")
	wantPage(t, s.get(t, at, auditor.session), http.StatusOK, "No mandates")
	form := url.Values{"principal": {"Corner Shop"}, "document": {"letter of 3 November, file 114/26"}, "until": {time.Now().AddDate(1, 0, 0).Format("2006-01-02T15:04")}, "purpose": {"payment"}}
	wantPage(t, s.post(t, at, auditor.session, form), http.StatusNotFound)
	for field, name := range map[string]string{"principal": "principal", "document": "document", "until": "until"} {
		wrong := url.Values{"principal": form["principal"], "document": form["document"], "until": form["until"]}
		wrong.Set(field, "")
		wantPage(t, s.post(t, at, boss.session, wrong), http.StatusUnprocessableEntity, `id="error-`+name+`"`)
	}
	wantPage(t, s.post(t, at, boss.session, url.Values{"principal": {"x"}, "document": {"y"}, "until": form["until"], "purpose": {"nonsense"}}), http.StatusUnprocessableEntity, `id="error-purposes"`)
	wantGo(t, s.post(t, at, boss.session, form), at)
	list := must(s.Access.Mandates(t.Context(), s.bank.ID))(t)
	if len(list) != 1 || list[0].Principal != "Corner Shop" || list[0].CreatedBy != boss.id || len(list[0].Purposes) != 1 {
		t.Fatalf("the mandates are %+v", list)
	}
	end := at + "/" + list[0].ID.String() + "/end"
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Corner Shop", "payment", "file 114/26", "Active", end)
	wantPage(t, s.get(t, deskPage(s.other, "/mandates/"+list[0].ID.String()+"/end"), boss.session), http.StatusNotFound)
	wantPage(t, s.post(t, deskPage(s.other, "/mandates/"+list[0].ID.String()+"/end"), boss.session, url.Values{}), http.StatusNotFound)
	wantPage(t, s.get(t, end, boss.session), http.StatusOK, "can no longer ask on behalf of Corner Shop")
	wantGo(t, s.post(t, end, boss.session, url.Values{}), at)
	wantPage(t, s.get(t, at, auditor.session), http.StatusOK, "Ended")
	wantPage(t, s.post(t, end, boss.session, url.Values{}), http.StatusNotFound)
}

// Whoever invites a reviewer reads that a reviewer decides on more than documents.
func TestInvitationSaysWhatAReviewerDecides(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	wantPage(t, s.get(t, "/portal/desk/staff", s.asAdministrator(t).session), http.StatusOK, "orders about numbers, held files and held events")
}
