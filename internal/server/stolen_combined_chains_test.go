package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// steal runs a statement of the thief, and reports whether the database let it.
func (w *thiefWorld) steal(sql string, args ...any) bool {
	w.Helper()
	_, err := w.login.Exec(w.Context(), w.fill(sql), args...)
	w.settle()
	return err == nil
}

// logIn logs a person in, with a code or without.
func (w *thiefWorld) logIn(name, password, code string) int {
	w.Helper()
	status, _ := w.send(&thiefProbe{
		method: "POST", path: thiefStaff + "/login",
		body: fmt.Sprintf(`{"email":%q,"password":%q,"otp":%q}`, w.texts[name+" email"], password, code),
	})
	return status
}

// chains are attempts of several statements and requests.
func (w *thiefWorld) chains() (attempts []thiefAttempt) {
	w.Helper()
	all := map[string]func() string{
		"guess codes for ever": w.guessCodes, "guess passwords for ever": w.guessPasswords, "a code twice": w.codeTwice, "a recovery code twice": w.recoveryTwice,
		"the factor that was replaced": w.oldFactor, "the factor of somebody else": w.otherFactor, "a factor that is moved away": w.movedFactor,
		"the answer to somebody else's request": w.otherReplay, "another answer to a request": w.otherAnswer,
		"a number whose SIM was not swapped": w.forgeLine, "a policy": w.forgePolicy, "a plan": w.forgePlan, "a seal": w.forgeSeal, "a review": w.forgeReview,
		"the quota of yesterday": w.forgetUsage, "a confirmed endpoint": w.forgeEndpoint, "an endpoint of a revoked key": w.forgeMaker, "an erasure": w.forgeErasure,
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		do := all[name]
		attempts = append(attempts, thiefAttempt{family: "chain", name: name, before: []thiefStep{{do: func(*thiefWorld) string { return do() }}}})
	}
	return attempts
}

const thiefOK = 200

// guessCodes has the password of a person and tries codes, of which only a hundred may be
// evaluated.
func (w *thiefWorld) guessCodes() string {
	evaluated := 0
	for i := range 130 {
		w.steal(`UPDATE second_factor SET wrong_codes = 0, locked_at = NULL, last_step = 0`)
		w.steal(`DELETE FROM login_trouble`)
		if w.logIn("guarded", thiefPassword, fmt.Sprintf("%06d", i)) == 401 {
			evaluated++
		}
	}
	if evaluated > 100 && w.logIn("guarded", thiefPassword, w.code("guarded", 1)) == thiefOK {
		return fmt.Sprintf("%d wrong codes were evaluated, and then a right one", evaluated)
	}
	return ""
}

func (w *thiefWorld) guessPasswords() string {
	for i := range 30 {
		w.steal(`DELETE FROM login_trouble`)
		w.logIn("member", fmt.Sprint("wrong", i), "")
	}
	if w.logIn("member", thiefPassword, "") == thiefOK {
		return "thirty wrong passwords were evaluated, and then a right one"
	}
	return ""
}

func (w *thiefWorld) codeTwice() string {
	code := w.code("guarded", 1)
	if w.logIn("guarded", thiefPassword, code) == thiefOK && w.steal(`UPDATE second_factor SET last_step = 0`) && w.logIn("guarded", thiefPassword, code) == thiefOK {
		return "a code was accepted twice"
	}
	return ""
}

func (w *thiefWorld) recoveryTwice() string {
	code := w.texts["guarded recovery"]
	if w.logIn("guarded", thiefPassword, code) == thiefOK && w.steal(`UPDATE recovery_code SET used_at = NULL`) && w.logIn("guarded", thiefPassword, code) == thiefOK {
		return "a recovery code was accepted twice"
	}
	return ""
}

// oldFactor has an authenticator that its owner has replaced.
func (w *thiefWorld) oldFactor() string {
	var sealed []byte
	var factor, named uuid.UUID
	w.must(w.login.QueryRow(w.Context(), `SELECT sealed, id FROM second_factor WHERE account_id = $1`, w.ids["guarded"]).Scan(&sealed, &factor))
	old := map[string]string{"guarded factor": w.texts["guarded factor"], "guarded recovery": w.texts["guarded recovery"]}
	defer func() {
		w.texts["guarded factor"], w.texts["guarded recovery"] = old["guarded factor"], old["guarded recovery"]
	}()
	w.sql(`DELETE FROM second_factor WHERE account_id = $1`, w.ids["guarded"])
	w.factor("guarded")
	w.texts["guarded factor"] = old["guarded factor"]
	w.must(w.login.QueryRow(w.Context(), `SELECT id FROM second_factor WHERE account_id = $1`, w.ids["guarded"]).Scan(&named))
	if w.logIn("guarded", thiefPassword, w.code("guarded", 1)) == thiefOK {
		w.Error("the replaced factor is still accepted")
	}
	// What the account named before its owner replaced the factor is signed with the account.
	w.steal(`UPDATE second_factor SET id = $2, sealed = $1, last_step = 0 WHERE account_id = {guarded}`, sealed, factor)
	w.steal(`UPDATE account SET factor_id = $1 WHERE id = {guarded}`, named)
	w.steal(`UPDATE second_factor SET sealed = $1, last_step = 0 WHERE account_id = {guarded}`, sealed)
	for _, code := range []string{w.code("guarded", 1), old["guarded recovery"]} {
		if w.logIn("guarded", thiefPassword, code) == thiefOK {
			return "a replaced authenticator was accepted"
		}
	}
	return ""
}

// otherFactor puts the secret and the recovery codes of the thief's own account into another.
func (w *thiefWorld) otherFactor() string {
	w.factor("member")
	w.steal(`UPDATE second_factor g SET sealed = m.sealed, last_step = 0 FROM second_factor m WHERE g.account_id = {guarded} AND m.account_id = {member}`)
	w.steal(`DELETE FROM recovery_code WHERE account_id = {guarded}`)
	w.steal(`INSERT INTO recovery_code SELECT {guarded}, mac, NULL FROM recovery_code WHERE account_id = {member}`)
	for _, code := range []string{w.code("member", 1), w.texts["member recovery"]} {
		if w.logIn("guarded", thiefPassword, code) == thiefOK {
			return "the code of another account was accepted"
		}
	}
	return ""
}

// movedFactor takes the factor away without a change of the account, and sets up another.
func (w *thiefWorld) movedFactor() string {
	w.steal(`DELETE FROM recovery_code WHERE account_id = {guarded}`)
	w.steal(`UPDATE second_factor SET account_id = {member}, confirmed_at = NULL WHERE account_id = {guarded}`)
	for _, code := range []string{"", "000000", w.texts["guarded recovery"]} {
		if w.logIn("guarded", thiefPassword, code) == thiefOK {
			return "no code was needed"
		}
	}
	return ""
}

// otherReplay lets the stored answer to another client stand for the thief's own request.
func (w *thiefWorld) otherReplay() string {
	w.steal(`UPDATE idempotency SET answer = convert_to('{"entityName":"planted"}', 'UTF8')`)
	if status, body := w.onboard("Delta Agency", "delta-agency-1"); status == thiefOK && strings.Contains(body, "planted") {
		return "a client was told what the thief wrote: " + body[:min(len(body), 60)]
	}
	return ""
}

// otherAnswer lets a request be answered as another one of the same client was.
func (w *thiefWorld) otherAnswer() string {
	w.onboard("Honest Agency", "honest-1")
	w.steal(`UPDATE idempotency i SET answer = o.answer FROM idempotency o WHERE i.key_mac <> o.key_mac`)
	if status, body := w.onboard("Honest Agency", "honest-1"); status == thiefOK && strings.Contains(body, "Delta Agency") {
		return "a client was told the answer to another request"
	}
	return ""
}

func (w *thiefWorld) heard(name string) string {
	for i := range w.probes {
		if w.probes[i].name == name {
			return w.gained(&w.probes[i], w.baseline[i], w.probe(&w.probes[i]))
		}
	}
	w.Fatal(name)
	return ""
}

func (w *thiefWorld) forgeLine() string {
	old := line.InstantOf(time.Now().AddDate(-3, 0, 0))
	w.steal(`UPDATE line_now SET sim_at = NULL, newest = $1 WHERE number = $2`, old, thiefNumber+1)
	return w.heard("a number with a swapped SIM")
}

func (w *thiefWorld) forgePolicy() string {
	w.steal(w.copyRow("policy", `version = version + 1; id = gen_random_uuid(); swapped_hours = 1; effective_at = now(); created_at = now()`))
	w.steal(`DELETE FROM log_pending`)
	pause.For(w.Context(), 1500*time.Millisecond)
	return w.heard("a number with a swapped SIM")
}

func (w *thiefWorld) forgePlan() string {
	w.steal(w.copyRow("numbering_plan", `version = version + 1; id = gen_random_uuid(); effective_at = now(); created_at = now()`))
	w.steal(w.copyRow("numbering_network", `version = version + 1`))
	w.steal(w.copyRow("numbering_range", `version = version + 1; prefix = replace(prefix, '234805', '234807')`))
	w.steal(`DELETE FROM log_pending`)
	pause.For(w.Context(), 1500*time.Millisecond)
	return w.heard("a range without a plan")
}

func (w *thiefWorld) forgeSeal() string {
	if w.steal(`UPDATE line_seal SET active = true`) {
		return "nobody is told of a number, and no two people have sealed it"
	}
	return ""
}

func (w *thiefWorld) forgeReview() string {
	if w.steal(`UPDATE document SET state = 'accepted', moved_at = now() WHERE id = {document}`) {
		return "a document is accepted that nobody has reviewed"
	}
	return ""
}

func (w *thiefWorld) forgetUsage() string {
	w.steal(`UPDATE usage_day SET asked = 0, answered = 0, numbers = 0`)
	for range 60 {
		if gain := w.heard("with the spent key"); gain != "" {
			return gain
		}
		pause.For(w.Context(), 100*time.Millisecond)
	}
	return ""
}

func (w *thiefWorld) endpointState() string {
	_, body := w.send(&thiefProbe{method: "GET", path: "/api/v1/webhooks", bearer: w.texts["key"]})
	return body
}

func (w *thiefWorld) forgeEndpoint() string {
	if w.steal(`UPDATE hook_endpoint SET state = 'active', version = version + 1`) && strings.Contains(w.endpointState(), `"active"`) {
		return "an endpoint is active that has not answered the challenge"
	}
	return ""
}

func (w *thiefWorld) forgeMaker() string {
	w.must(w.access.RevokeKey(w.Context(), uuid.Nil, w.ids["key"], access.Operator, uuid.Nil))
	if w.steal(`UPDATE hook_endpoint SET state = 'active', made_by_key = NULL, version = version + 1 WHERE id = {hook}`) {
		return "an endpoint of a revoked key is active"
	}
	return ""
}

func (w *thiefWorld) forgeErasure() string {
	if w.steal(`INSERT INTO erasure (id, ground, state, number, asked_at, confirmed_at) VALUES (gen_random_uuid(), 'request', 'confirmed', 2348031000000, now(), now())`) {
		return "an erasure is confirmed that nobody has requested"
	}
	return ""
}
