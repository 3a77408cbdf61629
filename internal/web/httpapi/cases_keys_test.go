package httpapi_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

const (
	keysPath     = "/api/regulator/v1/keys"
	revokePath   = "/api/auth/revoke"
	metadataPath = "/.well-known/oauth-authorization-server"
)

// person returns a session of the admin of an entity that verifies numbers, and
// the entity. The account is as complete as a live key needs it.
func (s *stack) person(t *testing.T) (session string, entity uuid.UUID) {
	t.Helper()
	uid, email := s.onboarded(t, s.token(t))
	must(s.pool.Exec(t.Context(), `WITH a AS (UPDATE account SET verified_at = now(), verified_by = 'email' WHERE email = $1 RETURNING id)
		INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) SELECT id, '', now(), now() FROM a`, email))(t)
	return s.session(t, email), uuid.MustParse(uid)
}

// newcomer is person as the specification's onboarding leaves the admin: the e-mail
// address is not confirmed, and there is no two-factor authentication.
func (s *stack) newcomer(t *testing.T) (session string, entity uuid.UUID) {
	t.Helper()
	uid, email := s.onboarded(t, s.token(t))
	return s.session(t, email), uuid.MustParse(uid)
}

// ownKey creates a key of the person's entity.
func (s *stack) ownKey(t *testing.T, entity uuid.UUID) access.NewKey {
	t.Helper()
	return must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: entity, Name: "payments", Mode: access.Live}, access.Operator, uuid.Nil))(t)
}

// ownTestKey is ownKey for a test key, which everybody may roll.
func (s *stack) ownTestKey(t *testing.T, entity uuid.UUID) access.NewKey {
	t.Helper()
	return must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: entity, Name: "pipeline", Mode: access.Test}, access.Operator, uuid.Nil))(t)
}

func without(method, path, bearer string) *http.Request {
	r := httptest.NewRequest(method, path, http.NoBody)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}

// trouble are the errors that every operation of a person can have.
func trouble(name, method, path, body string) map[string]answer {
	ask := func(change func(r *http.Request)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			r := without(method, path, session)
			if body != "" {
				r = post(path, session, body)
			}
			change(r)
			return r
		}
	}
	all := map[string]answer{
		name + "_no_credential": {401, ask(func(r *http.Request) { r.Header.Del("Authorization") })},
		name + "_staff": {403, func(t *testing.T, s *stack) *http.Request {
			r := without(method, path, s.staff(t, "administrator"))
			if body != "" {
				r = post(path, s.staff(t, "reviewer"), body)
			}
			return r
		}},
		name + "_bad_correlator": {400, ask(func(r *http.Request) { r.Header.Set("x-correlator", "no good!") })},
		name + "_panic": {500, func(t *testing.T, s *stack) *http.Request {
			r := ask(func(*http.Request) {})(t, s)
			s.Access.Peppers = nil
			return r
		}},
		name + "_unavailable": {503, func(t *testing.T, s *stack) *http.Request {
			r := ask(func(*http.Request) {})(t, s)
			s.pool.Close()
			return r
		}},
	}
	if body != "" {
		all[name+"_media_type"] = answer{415, ask(func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })}
		all[name+"_too_large"] = answer{413, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return post(path, session, `{"name":"`+strings.Repeat("x", 17<<10)+`"}`)
		}}
	}
	return all
}

func keyAnswers() map[string]answer {
	all := make(map[string]answer)
	some := uuid.NewString()
	maps.Copy(all, trouble("keys_list", http.MethodGet, keysPath, ""))
	maps.Copy(all, trouble("keys_create", http.MethodPost, keysPath, `{"name":"app","mode":"live"}`))
	maps.Copy(all, trouble("keys_roll", http.MethodPost, keysPath+"/"+some+"/roll", `{}`))
	maps.Copy(all, trouble("keys_revoke", http.MethodDelete, keysPath+"/"+some, ""))
	maps.Copy(all, trouble("keys_report", http.MethodPost, keysPath+"/"+some+"/report-leaked", ""))
	create := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return post(keysPath, session, body)
		}
	}
	onKey := func(ask func(session string, id uuid.UUID) *http.Request) asker {
		return func(t *testing.T, s *stack) *http.Request {
			session, entity := s.person(t)
			return ask(session, s.ownKey(t, entity).ID)
		}
	}
	roll := func(body string) asker {
		return onKey(func(session string, id uuid.UUID) *http.Request {
			return post(keysPath+"/"+id.String()+"/roll", session, body)
		})
	}
	maps.Copy(all, map[string]answer{
		"keys_list_ok_none": {200, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return without(http.MethodGet, keysPath, session)
		}},
		"keys_list_ok": {200, func(t *testing.T, s *stack) *http.Request {
			session, entity := s.person(t)
			old := s.ownKey(t, entity)
			must(s.Access.RollKey(t.Context(), entity, old.ID, 0, access.Operator, uuid.Nil))(t)
			return without(http.MethodGet, keysPath, session)
		}},
		"keys_create_ok":           {200, create(`{"name":"account opening","mode":"live","purpose":"kyc","expiresInDays":30,"networks":["192.0.2.0/24","2001:db8::/32"],"rights":["watch","feed"]}`)},
		"keys_create_wrong_rights": {400, create(`{"name":"app","mode":"test","rights":["watch","watch"]}`)},
		"keys_create_ok_test":      {200, create(`{"name":"pipeline","mode":"test"}`)},
		"keys_create_incomplete": {403, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.newcomer(t)
			return post(keysPath, session, `{"name":"account opening","mode":"live"}`)
		}},
		"keys_create_no_factor": {403, func(t *testing.T, s *stack) *http.Request {
			return post(keysPath, s.admin(t).session, `{"name":"account opening","mode":"live"}`)
		}},
		"keys_create_ok_test_incomplete": {200, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.newcomer(t)
			return post(keysPath, session, `{"name":"pipeline","mode":"test"}`)
		}},
		"keys_roll_incomplete": {403, func(t *testing.T, s *stack) *http.Request {
			session, entity := s.newcomer(t)
			return post(keysPath+"/"+s.ownKey(t, entity).ID.String()+"/roll", session, `{}`)
		}},
		"keys_create_empty":     {400, create(`{}`)},
		"keys_create_all_wrong": {400, create(`{"name":" ","mode":"both","expiresInDays":-1,"networks":["192.0.2.7/24","nowhere"]}`)},
		"keys_create_types":     {400, create(`{"name":1,"mode":true,"expiresInDays":"30","networks":"x","rate":5}`)},
		"keys_roll_ok":          {200, roll(`{"overlapHours":48}`)},
		"keys_roll_ok_now":      {200, roll(`{}`)},
		"keys_roll_long":        {400, roll(`{"overlapHours":169}`)},
		"keys_roll_types":       {400, roll(`{"overlapHours":1.5}`)},
		"keys_roll_unknown": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return post(keysPath+"/"+some+"/roll", session, `{}`)
		}},
		"keys_revoke_ok": {200, onKey(func(session string, id uuid.UUID) *http.Request {
			return without(http.MethodDelete, keysPath+"/"+id.String(), session)
		})},
		"keys_revoke_no_right": {403, func(t *testing.T, s *stack) *http.Request {
			return without(http.MethodDelete, keysPath+"/"+s.ownKey(t, s.bank.ID).ID.String(), s.member(t).session)
		}},
		"keys_report_ok": {200, func(t *testing.T, s *stack) *http.Request {
			return without(http.MethodPost, keysPath+"/"+s.ownKey(t, s.bank.ID).ID.String()+"/report-leaked", s.member(t).session)
		}},
		"keys_report_test_key": {409, func(t *testing.T, s *stack) *http.Request {
			return without(http.MethodPost, keysPath+"/"+s.ownTestKey(t, s.bank.ID).ID.String()+"/report-leaked", s.member(t).session)
		}},
		"keys_report_unknown": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return without(http.MethodPost, keysPath+"/"+some+"/report-leaked", session)
		}},
		"keys_revoke_unknown": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return without(http.MethodDelete, keysPath+"/"+some, session)
		}},
		"keys_revoke_another's": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return without(http.MethodDelete, keysPath+"/"+s.ownKey(t, s.bank.ID).ID.String(), session)
		}},
		"keys_roll_another's": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return post(keysPath+"/"+s.ownKey(t, s.bank.ID).ID.String()+"/roll", session, `{}`)
		}},
		"keys_revoke_not_an_id": {404, func(t *testing.T, s *stack) *http.Request {
			session, _ := s.person(t)
			return without(http.MethodDelete, keysPath+"/mine", session)
		}},
		"keys_roll_rolled_twice": {409, func(t *testing.T, s *stack) *http.Request {
			session, entity := s.person(t)
			old := s.ownKey(t, entity)
			must(s.Access.RollKey(t.Context(), entity, old.ID, access.MaxOverlap, access.Operator, uuid.Nil))(t)
			return post(keysPath+"/"+old.ID.String()+"/roll", session, `{}`)
		}},
	})
	return all
}

func oauthAnswers() map[string]answer {
	giveBack := func(change func(t *testing.T, s *stack, v url.Values)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			v := s.grant(func(v url.Values) { v.Del("grant_type"); v.Set("token", s.token(t)) })
			if change != nil {
				change(t, s, v)
			}
			r := post(revokePath, "", v.Encode())
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}
	}
	return map[string]answer{
		"revoke_ok":         {200, giveBack(nil)},
		"revoke_ok_hint":    {200, giveBack(func(_ *testing.T, _ *stack, v url.Values) { v.Set("token_type_hint", "access_token") })},
		"revoke_ok_unknown": {200, giveBack(func(_ *testing.T, _ *stack, v url.Values) { v.Set("token", "nonsense") })},
		"revoke_ok_json": {200, func(t *testing.T, s *stack) *http.Request {
			return post(revokePath, "", `{"client_id":"`+s.client.ID.String()+`","client_secret":"`+s.client.Secret.Reveal()+`","token":"`+s.token(t)+`"}`)
		}},
		"revoke_empty": {400, giveBack(func(_ *testing.T, _ *stack, v url.Values) { clear(v) })},
		"revoke_json_unknown": {400, func(*testing.T, *stack) *http.Request {
			return post(revokePath, "", `{"grant_type":"client_credentials"}`)
		}},
		"revoke_bad_client": {401, giveBack(func(_ *testing.T, _ *stack, v url.Values) { v.Set("client_id", uuid.NewString()) })},
		"revoke_media_type": {415, func(*testing.T, *stack) *http.Request {
			r := post(revokePath, "", "token=x")
			r.Header.Set("Content-Type", "text/plain")
			return r
		}},
		"revoke_too_large": {413, giveBack(func(_ *testing.T, _ *stack, v url.Values) { v.Set("token", strings.Repeat("x", 17<<10)) })},
		"revoke_panic": {500, func(t *testing.T, s *stack) *http.Request {
			r := giveBack(nil)(t, s)
			s.Access.Peppers = nil
			return r
		}},
		"revoke_unavailable": {503, func(t *testing.T, s *stack) *http.Request {
			r := giveBack(nil)(t, s)
			s.pool.Close()
			return r
		}},
		"metadata_ok": {200, func(*testing.T, *stack) *http.Request { return without(http.MethodGet, metadataPath, "") }},
		"metadata_bad_correlator": {400, func(*testing.T, *stack) *http.Request {
			r := without(http.MethodGet, metadataPath, "")
			r.Header.Set("x-correlator", "no good!")
			return r
		}},
	}
}
