package httpapi_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// holder is an account of an entity that has to submit documents.
type holder struct{ entity, session, client string }

func (s *stack) holder(t *testing.T) holder {
	t.Helper()
	entity, email := s.onboarded(t, s.token(t))
	return holder{entity, s.session(t, email), s.token(t)}
}

// asHolder creates a request on a stack where an entity has three documents: a
// rejected one, its successor, which is clean, and one of a custom type.
func asHolder(ask func(t *testing.T, s *stack, h holder, rejected, clean string) *http.Request) asker {
	return func(t *testing.T, s *stack) *http.Request {
		h := s.holder(t)
		rejected := s.moved(t, s.paper(t, h.entity, "CAC_CERTIFICATE"), "rejected")
		clean := s.moved(t, s.paper(t, h.entity, "CAC_CERTIFICATE"), "clean")
		s.moved(t, s.paper(t, h.entity, "Letter of the board"), "refused")
		return ask(t, s, h, rejected, clean)
	}
}

// gone are the errors that every operation on documents can have.
func gone(name string, ask asker) map[string]answer {
	change := func(change func(s *stack, r *http.Request)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			r := ask(t, s)
			change(s, r)
			return r
		}
	}
	return map[string]answer{
		name + "_panic":          {500, change(func(s *stack, _ *http.Request) { s.Documents = nil })},
		name + "_unavailable":    {503, change(func(s *stack, _ *http.Request) { s.pool.Close() })},
		name + "_bad_correlator": {400, change(func(_ *stack, r *http.Request) { r.Header.Set("X-Correlator", "with space") })},
		name + "_no_credential":  {401, change(func(_ *stack, r *http.Request) { r.Header.Del("Authorization") })},
	}
}

func documentAnswers() map[string]answer {
	all := listedDocuments()
	maps.Copy(all, shownDocuments())
	maps.Copy(all, documentContents())
	maps.Copy(all, reviewedDocuments())
	return all
}

func listedDocuments() map[string]answer {
	list := func(who func(t *testing.T, s *stack, h holder) string, query string) asker {
		return asHolder(func(t *testing.T, s *stack, h holder, _, _ string) *http.Request {
			return get(documentsPath+strings.Replace(query, "{entity}", h.entity, 1), who(t, s, h))
		})
	}
	own := func(_ *testing.T, _ *stack, h holder) string { return h.session }
	client := func(_ *testing.T, _ *stack, h holder) string { return h.client }
	staff := func(t *testing.T, s *stack, _ holder) string { t.Helper(); return s.staff(t, "auditor") }
	all := gone("documents_list", list(own, ""))
	maps.Copy(all, map[string]answer{
		"documents_list_ok":          {200, list(own, "")},
		"documents_list_ok_named":    {200, list(own, "?entityUid={entity}&limit=1")},
		"documents_list_ok_filtered": {200, list(own, "?state=refused,rejected&type=CAC_CERTIFICATE")},
		"documents_list_ok_client":   {200, list(client, "?limit=2")},
		"documents_list_ok_queue":    {200, list(staff, "")},
		"documents_list_ok_refused":  {200, list(staff, "?state=refused")},
		"documents_list_ok_staff":    {200, list(staff, "?entityUid={entity}&type=OTHER")},
		"documents_list_ok_none": {200, func(t *testing.T, s *stack) *http.Request {
			return get(documentsPath, s.holder(t).session)
		}},
		"documents_list_ok_free": {200, func(t *testing.T, s *stack) *http.Request {
			h := s.holder(t)
			super(t, s, `UPDATE entity SET document_required = false`)
			return get(documentsPath, h.session)
		}},
		"documents_list_wrong":     {400, list(own, "?entityUid=x&state=clean,burnt&type=Letter&limit=201&sort=up&limit=1")},
		"documents_list_bad_query": {400, list(own, "?state=%zz")},
		"documents_list_cursor":    {400, list(own, "?cursor=yesterday")},
		"documents_list_which_entity": {400, func(t *testing.T, s *stack) *http.Request {
			s.onboarded(t, s.token(t))
			return get(documentsPath+"?limit=0", s.holder(t).client)
		}},
		"documents_list_no_scope": {403, func(t *testing.T, s *stack) *http.Request {
			return get(documentsPath, s.token(t, "entity:onboard"))
		}},
		"documents_list_limited":            {403, func(t *testing.T, s *stack) *http.Request { return get(documentsPath, s.limited(t)) }},
		"documents_list_other_entity":       {404, list(own, "?entityUid="+uuid.NewString())},
		"documents_list_other_entity_token": {404, list(client, "?entityUid="+uuid.NewString())},
		"documents_list_other_entity_staff": {404, list(staff, "?entityUid="+uuid.NewString())},
	})
	return all
}

func shownDocuments() map[string]answer {
	type choice func(t *testing.T, s *stack, h holder, rejected, clean string) (id, credential string)
	show := func(which choice) asker {
		return asHolder(func(t *testing.T, s *stack, h holder, rejected, clean string) *http.Request {
			id, credential := which(t, s, h, rejected, clean)
			return get(documentsPath+"/"+id, credential)
		})
	}
	own := show(func(_ *testing.T, _ *stack, h holder, _, clean string) (string, string) { return clean, h.session })
	in := func(state string) asker {
		return show(func(t *testing.T, s *stack, h holder, _, _ string) (string, string) {
			t.Helper()
			return s.moved(t, s.paper(t, h.entity, "TAX_ID"), state), h.session
		})
	}
	all := gone("documents_one", own)
	maps.Copy(all, map[string]answer{
		"documents_one_ok": {200, own},
		"documents_one_ok_replaced": {200, show(func(_ *testing.T, _ *stack, h holder, rejected, _ string) (string, string) {
			return rejected, h.session
		})},
		"documents_one_ok_client": {200, show(func(_ *testing.T, _ *stack, h holder, _, clean string) (string, string) { return clean, h.client })},
		"documents_one_ok_staff": {200, show(func(t *testing.T, s *stack, _ holder, rejected, _ string) (string, string) {
			t.Helper()
			return rejected, s.staff(t, "auditor")
		})},
		"documents_one_ok_staff_deleted": {200, show(func(t *testing.T, s *stack, h holder, _, _ string) (string, string) {
			t.Helper()
			return s.moved(t, s.paper(t, h.entity, "TAX_ID"), "deleted"), s.staff(t, "reviewer")
		})},
		"documents_one_ok_received": {200, in("received")},
		"documents_one_ok_infected": {200, in("infected")},
		"documents_one_ok_deleted":  {200, in("deleted")},
		"documents_one_no_scope": {403, show(func(t *testing.T, s *stack, _ holder, _, clean string) (string, string) {
			t.Helper()
			return clean, s.token(t, "entity:onboard")
		})},
		"documents_one_of_another": {404, show(func(t *testing.T, s *stack, _ holder, _, clean string) (string, string) {
			t.Helper()
			return clean, s.holder(t).session
		})},
		"documents_one_of_another_client": {404, show(func(t *testing.T, s *stack, _ holder, _, clean string) (string, string) {
			t.Helper()
			s.client = s.newClient(t, "document:upload")
			return clean, s.token(t)
		})},
		"documents_one_unknown": {404, show(func(_ *testing.T, _ *stack, h holder, _, _ string) (string, string) {
			return uuid.NewString(), h.session
		})},
		"documents_one_no_id": {404, show(func(_ *testing.T, _ *stack, h holder, _, _ string) (string, string) { return "7", h.session })},
	})
	return all
}

func documentContents() map[string]answer {
	open := func(state string, who func(t *testing.T, s *stack, h holder) string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			h := s.holder(t)
			return get(documentsPath+"/"+s.moved(t, s.paper(t, h.entity, "TAX_ID"), state)+"/content", who(t, s, h))
		}
	}
	own := func(_ *testing.T, _ *stack, h holder) string { return h.session }
	other := func(t *testing.T, s *stack, _ holder) string { t.Helper(); return s.holder(t).session }
	all := gone("documents_content", open("clean", own))
	maps.Copy(all, map[string]answer{
		"documents_content_ok":         {200, open("accepted", own)},
		"documents_content_ok_staff":   {200, open("clean", func(t *testing.T, s *stack, _ holder) string { t.Helper(); return s.staff(t, "auditor") })},
		"documents_content_client":     {401, open("clean", func(_ *testing.T, _ *stack, h holder) string { return h.client })},
		"documents_content_limited":    {403, open("clean", func(t *testing.T, s *stack, _ holder) string { t.Helper(); return s.limited(t) })},
		"documents_content_of_another": {404, open("clean", other)},
		"documents_content_no_id": {404, func(t *testing.T, s *stack) *http.Request {
			return get(documentsPath+"/7/content", s.holder(t).session)
		}},
	})
	for _, state := range []string{"received", "scanning", "refused", "infected", "deleted"} {
		all["documents_content_"+state] = answer{409, open(state, own)}
	}
	return all
}

func reviewedDocuments() map[string]answer {
	review := func(role, state, body string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			h := s.holder(t)
			path := documentsPath + "/" + s.moved(t, s.paper(t, h.entity, "TAX_ID"), state) + "/review"
			if role == "" {
				return post(path, h.session, body)
			}
			return post(path, s.staff(t, role), body)
		}
	}
	accept := review("reviewer", "clean", `{"decision":"accepted"}`)
	all := gone("documents_review", accept)
	maps.Copy(all, map[string]answer{
		"documents_review_ok":          {200, accept},
		"documents_review_ok_note":     {200, review("administrator", "clean", `{"decision":"accepted","reason":"Seen with the original"}`)},
		"documents_review_ok_rejected": {200, review("administrator", "clean", `{"decision":"rejected","reason":"The stamp cannot be read."}`)},
		"documents_review_empty":       {400, review("reviewer", "clean", `{}`)},
		"documents_review_wrong":       {400, review("reviewer", "clean", `{"decision":"burnt","reason":1,"why":"x"}`)},
		"documents_review_no_reason":   {400, review("reviewer", "clean", `{"decision":"rejected"}`)},
		"documents_review_long":        {400, review("reviewer", "clean", `{"decision":"rejected","reason":"`+strings.Repeat("x", 501)+`"}`)},
		"documents_review_auditor":     {403, review("auditor", "clean", `{"decision":"accepted"}`)},
		"documents_review_own":         {403, review("", "clean", `{"decision":"accepted"}`)},
		"documents_review_unknown": {404, func(t *testing.T, s *stack) *http.Request {
			return post(documentsPath+"/"+uuid.NewString()+"/review", s.staff(t, "reviewer"), `{"decision":"accepted"}`)
		}},
		"documents_review_scanning":   {409, review("reviewer", "scanning", `{"decision":"accepted"}`)},
		"documents_review_infected":   {409, review("reviewer", "infected", `{"decision":"accepted"}`)},
		"documents_review_again":      {409, review("reviewer", "rejected", `{"decision":"accepted"}`)},
		"documents_review_too_large":  {413, review("reviewer", "clean", `{"reason":"`+strings.Repeat("x", 17<<10)+`"}`)},
		"documents_review_media_type": {415, func(t *testing.T, s *stack) *http.Request { r := accept(t, s); r.Header.Del("Content-Type"); return r }},
	})
	return all
}
