package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

const freshEmail, freshPhone = "ada@harmattan.example", "0802 345 6789"

func onboardAnswers() map[string]answer {
	says := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(onboardPath, s.token(t), body) }
	}
	full := func(change func(t *testing.T, s *stack, token string)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			token := s.token(t)
			if change != nil {
				change(t, s, token)
			}
			return onboardRequest(token, freshEmail, freshPhone, "key-1")
		}
	}
	first := func(email, number, key string) func(t *testing.T, s *stack, token string) {
		return func(t *testing.T, s *stack, token string) {
			if res := s.do(t, onboardRequest(token, email, number, key)); res.Code != http.StatusOK {
				t.Fatalf("the first request answered %d: %s", res.Code, res.Body)
			}
		}
	}
	return map[string]answer{
		"onboard_ok":       {200, full(nil)},
		"onboard_replayed": {200, full(first(freshEmail, freshPhone, `"key-1"`))},
		"onboard_ok_vouched": {200, full(func(t *testing.T, s *stack, _ string) {
			super(t, s, `UPDATE client SET vouches = true`)
		})},
		"onboard_empty":        {400, says(`{}`)},
		"onboard_wrong_types":  {400, says(`{"cac":1,"name":null,"isDocumentRequired":"yes","adminName":[],"adminPhone":{},"adminEmail":true,"adminPassword":2}`)},
		"onboard_wrong_values": {400, says(`{"cac":"!","name":" ","isDocumentRequired":true,"adminName":"` + strings.Repeat("n", 201) + `","adminPhone":"12","adminEmail":"x@","adminPassword":"short"}`)},
		"onboard_unknown_and_repeated": {400, says(`{"cac":"RC1","cac":"RC2","cac":"RC3","entityStatus":"Approved","NAME":"x","name":"N","isDocumentRequired":true,` +
			`"adminName":"A","adminPhone":"08023456789","adminEmail":"a@b.example","adminPassword":"longenough1"}`)},
		"onboard_common_password": {400, says(`{"cac":"RC1","name":"N","isDocumentRequired":true,"adminName":"A","adminPhone":"08023456789","adminEmail":"a@b.example","adminPassword":"Password1"}`)},
		"onboard_own_words":       {400, says(`{"cac":"RC1","name":"Harmattan","isDocumentRequired":true,"adminName":"A","adminPhone":"08023456789","adminEmail":"a@b.example","adminPassword":"Harmattan2026!"}`)},
		"onboard_many_strangers":  {400, says("{" + strangers(1500) + "}")},
		"onboard_syntax":          {400, says(`{"cac":`)},
		"onboard_null":            {400, says(`null`)},
		"onboard_array":           {400, says(`[]`)},
		"onboard_trailing":        {400, says(`{} {}`)},
		"onboard_invalid_utf8":    {400, says("{\"cac\":\"\xff\"}")},
		"onboard_lone_surrogate":  {400, says(`{"cac":"\ud800"}`)},
		"onboard_nul":             {400, says(`{"cac":"R\u0000C"}`)},
		"onboard_bad_key": {400, func(t *testing.T, s *stack) *http.Request {
			return onboardRequest(s.token(t), freshEmail, freshPhone, strings.Repeat("k", 256))
		}},
		"onboard_no_credential": {401, func(*testing.T, *stack) *http.Request { return onboardRequest("", freshEmail, freshPhone, "") }},
		"onboard_no_scope": {403, func(t *testing.T, s *stack) *http.Request {
			return onboardRequest(s.token(t, "document:upload"), freshEmail, freshPhone, "")
		}},
		"onboard_email_taken": {409, full(first(strings.ToUpper(freshEmail), "08099999999", ""))},
		"onboard_phone_taken": {409, full(first("other@harmattan.example", "+234 802 345 6789", ""))},
		"onboard_both_taken":  {409, full(first(freshEmail, freshPhone, ""))},
		"onboard_taken_by_staff": {409, full(func(t *testing.T, s *stack, _ string) {
			_ = must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: freshEmail, Role: "auditor", Password: "quiet-river-9"}, access.Operator, uuid.Nil))(t)
		})},
		"onboard_cac_taken": {409, full(func(t *testing.T, s *stack, token string) {
			s.Registry.CACUnique = true
			first("other@harmattan.example", "08099999999", "")(t, s, token)
		})},
		"onboard_everything_taken": {409, full(func(t *testing.T, s *stack, token string) {
			s.Registry.CACUnique = true
			first(freshEmail, freshPhone, "")(t, s, token)
		})},
		"onboard_other_body": {409, full(first("other@harmattan.example", freshPhone, "key-1"))},
		"onboard_in_flight":  {409, full(func(t *testing.T, s *stack, _ string) { holdTicket(t, s, "onboard-entity") })},
		"onboard_media_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := onboardRequest(s.token(t), freshEmail, freshPhone, "")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}},
		"onboard_too_large":   {413, says(`{"name":"` + strings.Repeat("n", 17<<10) + `"}`)},
		"onboard_panic":       {500, full(func(_ *testing.T, s *stack, _ string) { s.Answers = nil })},
		"onboard_unavailable": {503, full(func(_ *testing.T, s *stack, _ string) { s.pool.Close() })},
		"onboard_too_slow": {503, func(t *testing.T, s *stack) *http.Request {
			ctx, cancel := context.WithTimeout(t.Context(), 0)
			t.Cleanup(cancel)
			return onboardRequest(s.token(t), freshEmail, freshPhone, "").WithContext(ctx)
		}},
	}
}

func strangers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":1,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// holdTicket keeps a request with the same key in progress until the test ends.
func holdTicket(t *testing.T, s *stack, operation string) {
	t.Helper()
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ticket := idempotency.Ticket{Caller: s.client.ID, Operation: operation, Key: "key-1"}
	go func() {
		defer close(ended)
		_, _, _ = s.Answers.Do(context.Background(), ticket, func(pg.Tx) ([]byte, error) {
			close(began)
			<-end
			return nil, nil
		})
	}()
	<-began
	t.Cleanup(func() { close(end); <-ended })
}

func uploadAnswers() map[string]answer {
	session := func(parts ...part) asker {
		return func(t *testing.T, s *stack) *http.Request {
			_, email := s.onboarded(t, s.token(t))
			return upload(s.session(t, email), parts...)
		}
	}
	client := func(onboardings int, parts ...part) asker {
		return func(t *testing.T, s *stack) *http.Request {
			for range onboardings {
				s.onboarded(t, s.token(t))
			}
			return upload(s.token(t), parts...)
		}
	}
	keyed := func(t *testing.T, s *stack, label string) *http.Request {
		r := upload(s.token(t), part{"type", "", label}, part{"file", "cac.pdf", pdf})
		r.Header.Set("Idempotency-Key", "paper-1")
		return r
	}
	again := func(label string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			s.onboarded(t, s.token(t))
			if res := s.do(t, keyed(t, s, "CAC_CERTIFICATE")); res.Code != http.StatusOK {
				t.Fatalf("the first upload answered %d: %s", res.Code, res.Body)
			}
			return keyed(t, s, label)
		}
	}
	return map[string]answer{
		"upload_ok":             {200, session(documentParts()...)},
		"upload_ok_file_first":  {200, session(part{"file", "x.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}, part{"type", "", "Something we never heard of"})},
		"upload_ok_only_entity": {200, client(1, documentParts()...)},
		"upload_replayed":       {200, again("CAC_CERTIFICATE")},
		"upload_empty":          {400, session()},
		"upload_empty_file":     {400, session(part{"type", "", "TAX_ID"}, part{"file", "e.pdf", ""})},
		"upload_bad_parts":      {400, session(part{"type", "", strings.Repeat("t", 65)}, part{"type", "", "x"}, part{"kind", "", "x"}, part{"entityUid", "", "x"}, part{"file", "c.pdf", pdf})},
		"upload_replayed_after_another_onboarding": {200, func(t *testing.T, s *stack) *http.Request {
			token := s.token(t)
			s.onboarded(t, token)
			first, again := upload(token, documentParts()...), upload(token, documentParts()...)
			first.Header.Set("Idempotency-Key", "paper-1")
			again.Header.Set("Idempotency-Key", "paper-1")
			if res := s.do(t, first); res.Code != http.StatusOK {
				t.Fatalf("the first upload answered %d: %s", res.Code, res.Body)
			}
			s.onboarded(t, token)
			return again
		}},
		"upload_which_entity_and_type": {400, client(2, part{"file", "cac.pdf", pdf})},
		"upload_which_entity":          {400, client(2, documentParts()...)},
		"upload_no_entity":             {400, client(0, documentParts()...)},
		"upload_cut_off": {400, func(t *testing.T, s *stack) *http.Request {
			_, email := s.onboarded(t, s.token(t))
			r := post(uploadPath, s.session(t, email), "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n"+pdf)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			return r
		}},
		"upload_no_credential": {401, func(*testing.T, *stack) *http.Request { return upload("", documentParts()...) }},
		"upload_api_key":       {401, func(_ *testing.T, s *stack) *http.Request { return upload(s.key, documentParts()...) }},
		"upload_no_scope": {403, func(t *testing.T, s *stack) *http.Request {
			return upload(s.token(t, "entity:onboard"), documentParts()...)
		}},
		"upload_staff": {403, func(t *testing.T, s *stack) *http.Request {
			_ = must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: freshEmail, Role: "auditor", Password: password}, access.Operator, uuid.Nil))(t)
			return upload(s.session(t, freshEmail), documentParts()...)
		}},
		"upload_other_entity":  {404, session(append(documentParts(), part{"entityUid", "", uuid.NewString()})...)},
		"upload_others_entity": {404, client(1, append(documentParts(), part{"entityUid", "", uuid.NewString()})...)},
		"upload_other_body":    {409, again("TAX_ID")},
		"upload_too_large":     {413, session(part{"type", "", "TAX_ID"}, part{"file", "b.pdf", pdf + strings.Repeat("x", 1<<20)})},
		"upload_no_document":   {415, session(part{"type", "", "TAX_ID"}, part{"file", "cac.pdf", "MZ this is a program"})},
		"upload_not_multipart": {415, func(t *testing.T, s *stack) *http.Request { return post(uploadPath, s.token(t), `{}`) }},
		"upload_strict_type": {400, func(t *testing.T, s *stack) *http.Request {
			s.Documents.Strict = true
			s.onboarded(t, s.token(t))
			return upload(s.token(t), part{"type", "", "Unheard of"}, part{"file", "cac.pdf", pdf})
		}},
		"upload_panic": {500, func(t *testing.T, s *stack) *http.Request {
			s.onboarded(t, s.token(t))
			s.Answers = nil
			return upload(s.token(t), documentParts()...)
		}},
		"upload_in_flight": {409, func(t *testing.T, s *stack) *http.Request {
			s.onboarded(t, s.token(t))
			holdTicket(t, s, "upload-document")
			r := upload(s.token(t), documentParts()...)
			r.Header.Set("Idempotency-Key", "key-1")
			return r
		}},
		"upload_unavailable": {503, func(t *testing.T, s *stack) *http.Request {
			r := upload(s.token(t), documentParts()...)
			s.pool.Close()
			return r
		}},
	}
}

// super runs a statement as the owner of the database.
func super(t *testing.T, s *stack, sql string) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
