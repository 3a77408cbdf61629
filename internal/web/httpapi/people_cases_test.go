package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// asPerson creates a request of an admin of the bank.
func asPerson(ask func(t *testing.T, s *stack, p person) *http.Request) asker {
	return func(t *testing.T, s *stack) *http.Request { return ask(t, s, s.admin(t)) }
}

// asManager is asPerson with two-factor authentication, which changes of the team need.
func asManager(ask func(t *testing.T, s *stack, p person) *http.Request) asker {
	return func(t *testing.T, s *stack) *http.Request { return ask(t, s, s.withFactor(t, s.admin(t))) }
}

func peopleAnswers() map[string]answer {
	says := func(path, body string) asker {
		return asPerson(func(_ *testing.T, _ *stack, p person) *http.Request { return post(path, p.session, body) })
	}
	invites := func(body string) asker {
		return asManager(func(_ *testing.T, _ *stack, p person) *http.Request { return post(invitationsPath, p.session, body) })
	}
	open := func(path, body string) asker {
		return func(*testing.T, *stack) *http.Request { return post(path, "", body) }
	}
	login := func(more string, device ...string) asker {
		return asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			r := post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`"`+more+`}`)
			for _, d := range device {
				r.Header.Add("X-Device", d)
			}
			return r
		})
	}
	return map[string]answer{
		"login_ok_new_device": {200, login("", "new")},
		"login_two_devices":   {400, login(`,"otp":"`+strings.Repeat("1", 65)+`"`, "a", "b")},
		"login_ok_factor": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			code := s.enrolled(t, p)
			return post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`","otp":"`+code+`"}`)
		})},
		"login_factor_missing": {401, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			s.enrolled(t, p)
			return post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`"}`)
		})},
		"login_factor_wrong": {401, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			s.enrolled(t, p)
			return post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`","otp":"no-code"}`)
		})},
		"login_factor_locked": {403, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			t.Helper()
			code := s.enrolled(t, p)
			super(t, s, `UPDATE second_factor SET wrong_codes = 100, locked_at = now()`)
			return post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`","otp":"`+code+`"}`)
		})},
		"login_too_many": {429, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			for range 5 {
				s.do(t, post(loginPath, "", `{"email":"`+p.email+`","password":"wrong"}`))
			}
			return post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`"}`)
		})},

		"logout_ok": {200, says(logoutPath, "")},
		"sessions_list_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			r := post(loginPath, "", `{"email":"`+p.email+`","password":"`+password+`"}`)
			r.Header.Set("User-Agent", "the tests")
			s.do(t, r)
			return get(sessionsPath, p.session)
		})},
		"sessions_end_all_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			s.session(t, p.email)
			return without(http.MethodDelete, sessionsPath, p.session)
		})},
		"sessions_end_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return without(http.MethodDelete, sessionsPath+"/"+s.idOf(t, s.session(t, p.email)).String(), p.session)
		})},
		"sessions_end_others": {404, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return without(http.MethodDelete, sessionsPath+"/"+s.idOf(t, s.admin(t).session).String(), p.session)
		})},
		"sessions_end_no_id": {404, asPerson(func(_ *testing.T, _ *stack, p person) *http.Request {
			return without(http.MethodDelete, sessionsPath+"/all", p.session)
		})},

		"password_change_ok":    {200, says(passwordPath, `{"password":"`+password+`","newPassword":"`+freshPassword+`"}`)},
		"password_change_wrong": {400, says(passwordPath, `{"password":"wrong","newPassword":"`+freshPassword+`"}`)},
		"password_change_weak":  {400, says(passwordPath, `{"password":"`+password+`","newPassword":"password"}`)},
		"password_change_empty": {400, says(passwordPath, `{}`)},
		"password_change_too_many": {429, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			r := func() *http.Request {
				return post(passwordPath, p.session, `{"password":"wrong","newPassword":"`+freshPassword+`"}`)
			}
			for range 5 {
				s.do(t, r())
			}
			return r()
		})},
		"reset_ask_ok": {200, asPerson(func(_ *testing.T, _ *stack, p person) *http.Request {
			return post(resetPath, "", `{"email":"`+p.email+`"}`)
		})},
		"reset_ask_ok_unknown": {200, open(resetPath, `{"email":"nobody@people.example"}`)},
		"reset_ask_empty":      {400, open(resetPath, `{}`)},
		"reset_complete_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return post(resetCompletePath, "", `{"token":"`+s.link(t, people.Reset, p.id)+`","newPassword":"`+freshPassword+`"}`)
		})},
		"reset_complete_weak": {400, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return post(resetCompletePath, "", `{"token":"`+s.link(t, people.Reset, p.id)+`","newPassword":"short"}`)
		})},
		"reset_complete_no_link": {400, open(resetCompletePath, `{"token":"`+secret.New("lp_lnk_").Reveal()+`","newPassword":"`+freshPassword+`"}`)},
		"reset_complete_empty":   {400, open(resetCompletePath, `{}`)},
		"email_confirm_ok": {200, func(t *testing.T, s *stack) *http.Request {
			_, email := s.onboarded(t, s.token(t))
			a := must(s.Registry.AccountByEmail(t.Context(), s.pool, email))(t)
			return post(confirmEmailPath, "", `{"token":"`+s.link(t, people.Confirmation, a.ID)+`"}`)
		}},
		"email_confirm_no_link": {400, open(confirmEmailPath, `{"token":"x"}`)},
		"email_confirm_empty":   {400, open(confirmEmailPath, `{}`)},

		"prove_ok":    {200, says(provePath, `{"password":"`+password+`"}`)},
		"prove_wrong": {400, says(provePath, `{"password":"wrong-wrong-wrong"}`)},
		"prove_empty": {400, says(provePath, `{}`)},
		"prove_locked": {403, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			t.Helper()
			code := s.enrolled(t, p)
			super(t, s, `UPDATE second_factor SET wrong_codes = 100, locked_at = now()`)
			return post(provePath, p.session, `{"password":"`+password+`","otp":"`+code+`"}`)
		})},
		"prove_too_many": {429, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			for range 5 {
				s.do(t, post(provePath, p.session, `{"password":"wrong"}`))
			}
			return post(provePath, p.session, `{"password":"`+password+`"}`)
		})},
		"factor_begin_ok": {200, says(factorPath, "")},
		"factor_begin_password": {403, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return post(factorPath, s.aged(t, p).session, "")
		})},
		"factor_begin_has": {409, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			s.enrolled(t, p)
			return post(factorPath, p.session, "")
		})},
		"factor_confirm_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			begun := s.do(t, post(factorPath, p.session, ""))
			return post(factorConfirmPath, p.session, `{"otp":"`+codeAt(t, field(t, begun.Body.Bytes(), "data", "secret"), 0)+`"}`)
		})},
		"factor_confirm_wrong": {400, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			begun := s.do(t, post(factorPath, p.session, ""))
			return post(factorConfirmPath, p.session, `{"otp":"`+codeAt(t, field(t, begun.Body.Bytes(), "data", "secret"), -time.Hour)+`"}`)
		})},
		"factor_confirm_none":  {409, says(factorConfirmPath, `{"otp":"123456"}`)},
		"factor_confirm_empty": {400, says(factorConfirmPath, `{}`)},
		"factor_remove_ok": {200, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			return remove(factorPath, p.session, `{"password":"`+password+`","otp":"`+s.enrolled(t, p)+`"}`)
		})},
		"factor_remove_wrong": {400, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			s.enrolled(t, p)
			return remove(factorPath, p.session, `{"password":"`+password+`","otp":"no-code"}`)
		})},
		"factor_remove_locked": {403, asPerson(func(t *testing.T, s *stack, p person) *http.Request {
			t.Helper()
			code := s.enrolled(t, p)
			super(t, s, `UPDATE second_factor SET wrong_codes = 100, locked_at = now()`)
			return remove(factorPath, p.session, `{"password":"`+password+`","otp":"`+code+`"}`)
		})},
		"factor_remove_none": {409, asPerson(func(_ *testing.T, _ *stack, p person) *http.Request {
			return remove(factorPath, p.session, `{"password":"`+password+`","otp":"1"}`)
		})},
		"factor_remove_empty": {400, asPerson(func(_ *testing.T, _ *stack, p person) *http.Request { return remove(factorPath, p.session, `{}`) })},

		"invite_ok": {200, invites(`{"email":"guest@people.example","kind":"member"}`)},
		"invite_ok_administrator": {200, func(t *testing.T, s *stack) *http.Request {
			return post(invitationsPath, s.administrator(t).session, `{"email":"guest@people.example","kind":"staff","role":"administrator"}`)
		}},
		"invite_empty":     {400, invites(`{}`)},
		"invite_wrong":     {400, invites(`{"email":"guest","kind":"admin","role":"auditor"}`)},
		"invite_elsewhere": {404, invites(`{"email":"guest@people.example","kind":"member","entityUid":"` + uuid.NewString() + `"}`)},
		"invite_taken": {409, asManager(func(_ *testing.T, _ *stack, p person) *http.Request {
			return post(invitationsPath, p.session, `{"email":"`+p.email+`","kind":"member"}`)
		})},
		"invite_no_factor": {403, says(invitationsPath, `{"email":"guest@people.example","kind":"member"}`)},
		"invite_denied": {403, func(t *testing.T, s *stack) *http.Request {
			return post(invitationsPath, s.withFactor(t, s.member(t)).session, `{"email":"guest@people.example","kind":"member"}`)
		}},
		"accept_ok": {200, func(t *testing.T, s *stack) *http.Request {
			i := must(s.People.CreateInvited(t.Context(), people.InviteForm{Email: "guest@people.example", Kind: registry.MemberAccount, Entity: s.bank.ID}, access.Operator, uuid.Nil))(t)
			return post(acceptPath, "", `{"token":"`+s.link(t, people.Invitation, i.ID)+`","name":"Zainab Sule","password":"`+password+`"}`)
		}},
		"accept_no_link": {400, open(acceptPath, `{"token":"x","name":"Z","password":"`+password+`"}`)},
		"accept_empty":   {400, open(acceptPath, `{}`)},
		"team_ok": {200, asManager(func(t *testing.T, s *stack, p person) *http.Request {
			must(s.People.CreateInvited(t.Context(), people.InviteForm{Email: "guest@people.example", Kind: registry.MemberAccount, Entity: s.bank.ID}, access.Operator, uuid.Nil))(t)
			return get(teamPath, p.session)
		})},
		"team_denied": {403, func(t *testing.T, s *stack) *http.Request { return get(teamPath, s.member(t).session) }},
		"team_remove_ok": {200, asManager(func(t *testing.T, s *stack, p person) *http.Request {
			return without(http.MethodDelete, teamPath+"/"+s.member(t).id.String(), p.session)
		})},
		"team_remove_self": {409, asManager(func(_ *testing.T, _ *stack, p person) *http.Request {
			return without(http.MethodDelete, teamPath+"/"+p.id.String(), p.session)
		})},
		"team_remove_elsewhere": {404, asManager(func(t *testing.T, s *stack, p person) *http.Request {
			return without(http.MethodDelete, teamPath+"/"+s.administrator(t).id.String(), p.session)
		})},
		"team_remove_no_id": {404, asManager(func(_ *testing.T, _ *stack, p person) *http.Request {
			return without(http.MethodDelete, teamPath+"/me", p.session)
		})},
		"team_remove_denied": {403, func(t *testing.T, s *stack) *http.Request {
			return without(http.MethodDelete, teamPath+"/"+uuid.NewString(), s.withFactor(t, s.member(t)).session)
		}},
	}
}

// peopleTroubles are the errors that each of these operations can have.
func peopleTroubles() map[string]answer {
	all := make(map[string]answer)
	link := secret.New("lp_lnk_").Reveal() // of nobody
	for _, op := range []struct {
		name, method, path, body string
		open, limited            bool
	}{
		{"logout", http.MethodPost, logoutPath, "", false, true},
		{"sessions_list", http.MethodGet, sessionsPath, "", false, false},
		{"sessions_end_all", http.MethodDelete, sessionsPath, "", false, false},
		{"sessions_end", http.MethodDelete, sessionsPath + "/" + uuid.NewString(), "", false, false},
		{"password_change", http.MethodPost, passwordPath, `{"password":"` + password + `","newPassword":"` + freshPassword + `"}`, false, false},
		{"reset_ask", http.MethodPost, resetPath, `{"email":"a@b.example"}`, true, false},
		{"reset_complete", http.MethodPost, resetCompletePath, `{"token":"` + link + `","newPassword":"` + freshPassword + `"}`, true, false},
		{"email_confirm", http.MethodPost, confirmEmailPath, `{"token":"` + link + `"}`, true, false},
		{"prove", http.MethodPost, provePath, `{"password":"` + password + `"}`, false, true},
		{"factor_begin", http.MethodPost, factorPath, "", false, true},
		{"factor_confirm", http.MethodPost, factorConfirmPath, `{"otp":"123456"}`, false, true},
		{"factor_remove", http.MethodDelete, factorPath, `{"password":"` + password + `","otp":"123456"}`, false, true},
		{"invite", http.MethodPost, invitationsPath, `{"email":"guest@people.example","kind":"member"}`, false, false},
		{"accept", http.MethodPost, acceptPath, `{"token":"` + link + `","name":"Z","password":"` + password + `"}`, true, false},
		{"team", http.MethodGet, teamPath, "", false, false},
		{"team_remove", http.MethodDelete, teamPath + "/" + uuid.NewString(), "", false, false},
	} {
		ask := func(change func(*http.Request), before func(s *stack)) asker {
			return func(t *testing.T, s *stack) *http.Request {
				r := without(op.method, op.path, "")
				if op.body != "" {
					r = post(op.path, "", op.body)
					r.Method = op.method
				}
				if !op.open {
					p := s.admin(t)
					if !op.limited {
						s.withFactor(t, p)
					}
					r.Header.Set("Authorization", "Bearer "+p.session)
				}
				change(r)
				before(s)
				return r
			}
		}
		nothing, none := func(*http.Request) {}, func(*stack) {}
		all[op.name+"_bad_correlator"] = answer{400, ask(func(r *http.Request) { r.Header.Set("X-Correlator", "no good!") }, none)}
		all[op.name+"_panic"] = answer{500, ask(nothing, func(s *stack) { s.Access.Peppers, s.People = nil, nil })}
		all[op.name+"_unavailable"] = answer{503, ask(nothing, func(s *stack) { s.pool.Close() })}
		if !op.open {
			all[op.name+"_no_credential"] = answer{401, ask(func(r *http.Request) { r.Header.Del("Authorization") }, none)}
		}
		if !op.open && !op.limited {
			all[op.name+"_limited"] = answer{403, func(t *testing.T, s *stack) *http.Request {
				r := ask(nothing, none)(t, s)
				r.Header.Set("Authorization", "Bearer "+s.open(t, access.SessionForm{Account: s.administrator(t).id, Limited: true}))
				return r
			}}
		}
		if op.body != "" {
			all[op.name+"_media_type"] = answer{415, ask(func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, none)}
			all[op.name+"_too_large"] = answer{413, ask(large, none)}
		}
	}
	return all
}
