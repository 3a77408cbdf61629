package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// callAll calls every operation, correctly and incorrectly, with new secrets in every
// value that a caller can send.
func (a *secretSearch) callAll(t *testing.T) {
	t.Helper()
	a.onboardings(t)
	a.logins(t)
	a.tokens(t)
	a.uploads(t)
	a.verifications(t)
	a.unknownResources(t)
}

// credential returns a credential of kind p that was never issued.
func (a *secretSearch) credential(p secret.Prefix) string {
	s := secret.New(p).Reveal()
	a.add(s)
	return s
}

func (a *secretSearch) json(t *testing.T, path, credential string, fields map[string]any, headers ...string) answer {
	t.Helper()
	return a.send(t, post(path, "application/json", encode(fields), append(headers, "Authorization", "Bearer "+credential)...))
}

func (a *secretSearch) spelled(n int64) string {
	return spell(rand.New(rand.NewPCG(rand.Uint64(), 1)), n)
}

// allAtOnce calls every operation once, correctly, all at the same moment.
func (a *secretSearch) allAtOnce(t *testing.T) {
	t.Helper()
	w, bearer := a.world, func(s string) []string { return []string{"Authorization", "Bearer " + s} }
	grant := map[string]string{"grant_type": "client_credentials", "client_id": w.client.ID.String(), "client_secret": w.client.Secret.Reveal()}
	paper := request{boundary: "edge", parts: a.parts(a.newSecret(), "%PDF-1.7\n")}
	raws := [][]byte{
		post(onboardPath, "application/json", encode(a.form()), append(bearer(w.token), "Idempotency-Key", a.newSecret())...),
		post(loginPath, "application/json", encode(map[string]string{"email": adminEmail, "password": adminPassword})),
		post(tokenPath, "application/json", encode(grant)),
		post(verifyPath, "application/json", encode(question{a.spelled(a.phone())}), bearer(w.key.Text.Reveal())...),
		post(uploadPath, "multipart/form-data; boundary=edge", paper.content(), bearer(w.session)...),
	}
	statuses := make([]int, len(raws))
	var all sync.WaitGroup
	for i, raw := range raws {
		all.Go(func() {
			c := wire{address: a.wire.address}
			defer c.close()
			got, _ := c.send(raw) // no response is status 0
			statuses[i] = got.status
		})
	}
	all.Wait()
	for _, status := range statuses {
		a.answers[fmt.Sprintf("%s %d", a.phase, status)]++
	}
}

// form returns an application with a secret in every field.
func (a *secretSearch) form() map[string]any {
	return map[string]any{
		"cac": "RC 77", "name": a.newSecret(), "isDocumentRequired": true, "adminName": a.newSecret(), "adminPhone": a.spelled(a.phone()),
		"adminEmail": a.newSecret() + "@canary.example", "adminPassword": a.newSecret(),
	}
}

func (a *secretSearch) onboardings(t *testing.T) {
	t.Helper()
	w := a.world
	good := a.form()
	key := a.newSecret()
	a.json(t, onboardPath, w.token, good, "Idempotency-Key", key)
	a.json(t, onboardPath, w.token, good, "Idempotency-Key", key) // a replay
	a.json(t, onboardPath, w.token, good, "Idempotency-Key", a.newSecret())
	other := a.form()
	other["adminPhone"] = good["adminPhone"]
	a.json(t, onboardPath, w.token, other, "Idempotency-Key", key) // another body under the key
	a.json(t, onboardPath, w.token, other)
	bad := a.form()
	bad["adminEmail"], bad["adminPhone"], bad[a.newSecret()] = a.newSecret()+"@", a.newSecret(), a.newSecret()
	a.json(t, onboardPath, w.token, bad, "Idempotency-Key", a.newSecret()+"\xff")
	a.json(t, onboardPath, a.credential(secret.AccessToken), a.form())
	a.json(t, onboardPath, w.weak, a.form())
	raw := encode(a.form())
	a.send(t, post(onboardPath, "application/json", raw[:len(raw)-3], "Authorization", "Bearer "+w.token))
	a.send(t, post(onboardPath, "text/"+a.newSecret(), encode(a.form()), "Authorization", "Bearer "+w.token))
}

func (a *secretSearch) logins(t *testing.T) {
	t.Helper()
	got := a.json(t, loginPath, a.credential(secret.Session), map[string]any{"email": adminEmail, "password": adminPassword})
	var body struct {
		Data struct{ TokenMeta struct{ Token string } }
	}
	if json.Unmarshal(got.body, &body) == nil && body.Data.TokenMeta.Token != "" {
		a.add(body.Data.TokenMeta.Token)
	}
	a.json(t, loginPath, "", map[string]any{"email": a.newSecret() + "@canary.example", "password": a.newSecret(), "otp": a.newSecret()})
	a.json(t, loginPath, "", map[string]any{"email": a.newSecret(), a.newSecret(): 1})
	a.json(t, loginPath, "", map[string]any{"email": adminEmail, "password": a.newSecret() + "\x00"})
	a.people(t)
}

// people sends secrets to the operations about accounts: addresses, links,
// passwords, codes, devices.
func (a *secretSearch) people(t *testing.T) {
	t.Helper()
	const base = "/api/regulator/v1/"
	device := a.credential("lp_dev_")
	a.send(t, post(loginPath, "application/json", encode(map[string]any{"email": a.newSecret() + "@canary.example", "password": a.newSecret()}), "X-Device", device))
	a.json(t, base+"password-reset", "", map[string]any{"email": a.newSecret() + "@canary.example"})
	a.json(t, base+"password-reset/complete", "", map[string]any{"token": a.credential("lp_lnk_"), "newPassword": a.newSecret()})
	a.json(t, base+"email/confirm", "", map[string]any{"token": a.credential("lp_lnk_")})
	a.json(t, base+"invitations/accept", "", map[string]any{"token": a.credential("lp_lnk_"), "name": a.newSecret(), "password": a.newSecret()})
	a.json(t, base+"invitations", a.world.session, map[string]any{"email": a.newSecret() + "@canary.example", "kind": "member"})
	a.json(t, base+"password", a.world.session, map[string]any{"password": a.newSecret(), "newPassword": a.newSecret()})
	a.json(t, base+"second-factor/confirm", a.world.session, map[string]any{"otp": a.newSecret()})
}

func (a *secretSearch) tokens(t *testing.T) {
	t.Helper()
	const form = "application/x-www-form-urlencoded"
	c := a.world.client
	grant := func(id, secret string, more ...string) []byte {
		v := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
		for _, m := range more {
			v.Add(m, m)
		}
		return []byte(v.Encode())
	}
	got := a.send(t, post(tokenPath, form, grant(c.ID.String(), c.Secret.Reveal())))
	var body struct {
		Token string `json:"access_token"`
	}
	if json.Unmarshal(got.body, &body) == nil && body.Token != "" {
		a.add(body.Token)
	}
	a.send(t, post(tokenPath, form, grant(c.ID.String(), a.credential(secret.ClientSecret))))
	a.send(t, post(tokenPath, form, grant(a.newSecret(), a.newSecret(), a.newSecret(), "scope")))
	a.send(t, post(tokenPath, form, []byte("%zz"+a.newSecret())))
	basic := base64.StdEncoding.EncodeToString([]byte(a.newSecret() + ":" + a.newSecret()))
	a.add(basic)
	a.send(t, post(tokenPath, form, []byte("grant_type="+a.newSecret()), "Authorization", "Basic "+basic))
	a.send(t, post(tokenPath, "application/json", encode(map[string]string{"client_secret": a.newSecret(), a.newSecret(): a.newSecret()})))
}

func (a *secretSearch) parts(kind, content string, more ...part) []part {
	return append([]part{
		{`Content-Disposition: form-data; name="type"`, []byte(kind)},
		{`Content-Disposition: form-data; name="file"; filename="` + a.newSecret() + `.pdf"`, []byte(content + a.newSecret())},
	}, more...)
}

func (a *secretSearch) upload(t *testing.T, credential, kind, content string, more ...part) {
	t.Helper()
	r := request{boundary: "edge", parts: a.parts(kind, content, more...)}
	a.send(t, post(uploadPath, "multipart/form-data; boundary=edge", r.content(), "Authorization", "Bearer "+credential, "Idempotency-Key", a.newSecret()))
}

func (a *secretSearch) uploads(t *testing.T) {
	t.Helper()
	a.upload(t, a.world.session, a.newSecret(), "%PDF-1.7\n")
	a.upload(t, a.world.token, a.newSecret(), "%PDF-1.7\n", part{`Content-Disposition: form-data; name="entityUid"`, []byte(a.world.telco.ID.String())})
	a.upload(t, a.world.token, a.newSecret(), "%PDF-1.7\n", part{`Content-Disposition: form-data; name="entityUid"`, []byte(a.newSecret())})
	a.upload(t, a.world.session, a.newSecret()+"\x01", "text")
	a.upload(t, a.world.session, "TAX_ID", "%PDF-1.7\n", part{`Content-Disposition: form-data; name="` + a.newSecret() + `"`, []byte(a.newSecret())})
	a.upload(t, a.credential(secret.Session), "TAX_ID", "%PDF-1.7\n")
	a.send(t, post(uploadPath, "multipart/form-data; boundary="+a.newSecret(), []byte(a.newSecret()), "Authorization", "Bearer "+a.world.session))
}

func (a *secretSearch) verifications(t *testing.T) {
	t.Helper()
	key := a.world.key.Text.Reveal()
	ask := func(credential, number string, headers ...string) {
		a.json(t, verifyPath, credential, map[string]any{"phoneNumber": number}, headers...)
	}
	// A correlator is logged, by design, unless it looks like something private.
	a.control = "control-" + strings.ToLower(a.phase[:3])
	// A refused verification may have no log line, so this requests a token.
	a.send(t, post(tokenPath, "application/json", encode(map[string]string{"client_secret": a.newSecret()}), "X-Correlator", a.control))
	for range 3 {
		n := a.phone()
		digits := strconv.FormatInt(n, 10)
		ask(key, a.spelled(n), "X-Correlator", []string{digits, "0" + digits[3:6] + "-" + digits[6:9] + "-" + digits[9:], digits[3:6] + "." + digits[6:9] + "." + digits[9:]}[rand.IntN(3)])
	}
	ask(key, a.spelled(a.phone())+"x", "X-Correlator", a.credential(secret.LiveKey))
	ask(key, a.newSecret(), "X-Correlator", a.newSecret()+" with a space")
	ask(a.credential(secret.LiveKey), a.spelled(a.phone()))
	ask(a.credential(secret.TestKey)[:30], a.spelled(a.phone()))
	ask(a.world.session, a.spelled(a.phone()), "Cookie", a.newSecret(), "User-Agent", a.newSecret(), "Referer", a.newSecret(), "X-"+a.newSecret(), a.newSecret(), "Traceparent", a.newSecret(),
		"X-Forwarded-For", a.newSecret())
	a.json(t, verifyPath, key, map[string]any{"phoneNumber": a.spelled(a.phone()), a.newSecret(): a.newSecret()})
}

// unknownResources requests resources that do not exist.
func (a *secretSearch) unknownResources(t *testing.T) {
	t.Helper()
	a.json(t, "/api/"+a.newSecret(), a.credential(secret.AccessToken), nil)
	a.json(t, verifyPath+"?phoneNumber="+url.QueryEscape(a.spelled(a.phone()))+"&"+a.newSecret()+";x", a.world.key.Text.Reveal(), map[string]any{"phoneNumber": a.newSecret()})
	a.json(t, "/docs/"+a.newSecret(), "", nil)
	a.json(t, onboardPath+"/"+strconv.FormatInt(a.phone(), 10), a.world.token, nil)
}
