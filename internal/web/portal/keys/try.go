package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var tryPage = kit.Page{Title: "Try it", Lead: "Send a real request with a test key, and see the request and the response.", Active: tryPath}

// The name, the purpose and the lifetime of a key that is created here.
const (
	tryKeyName     = "Try it"
	tryKeyPurpose  = "trying it in the portal"
	tryKeyLifetime = 24 * time.Hour
)

const (
	maxKey    = 256
	maxNumber = 64
)

// showTry serves GET /portal/try.
func (p *Pages) showTry(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, tryPage, Try(TryData{Numbers: p.testNumbers()}))
}

// testNumbers are the test numbers to choose from, each with its answer: a sentence would be
// cut off in the list.
func (p *Pages) testNumbers() []kit.Option {
	if p.Simulator == nil {
		return nil
	}
	numbers := p.Simulator.TestNumbers()
	options := make([]kit.Option, len(numbers))
	for i := range numbers {
		number := numbers[i].Number.E164()
		options[i] = kit.Option{Value: number, Label: number + " · " + p.Simulator.Answer(&numbers[i], p.Now()), Hint: numbers[i].Title}
	}
	return options
}

// trial is the request that the visitor wants to send.
type trial struct {
	key     string
	number  string
	since   string
	include []string
	makeKey bool // generate a key first
}

func readTrial(r *http.Request) (t trial, err error) {
	t = trial{
		key: strings.TrimSpace(r.PostFormValue("key")), number: strings.TrimSpace(r.PostFormValue("other")), since: strings.TrimSpace(r.PostFormValue("since")),
		makeKey: r.PostFormValue("make") == "yes",
	}
	if t.number == "" {
		t.number = r.PostFormValue("phoneNumber")
	}
	for _, word := range []string{"signals", "coverage", "dates"} {
		if r.PostFormValue(word) == "yes" {
			t.include = append(t.include, word)
		}
	}
	var wrong fault.Form
	kind, isKey := secret.Parse(t.key)
	wrong.Check(t.makeKey || t.key != "", "key", fault.Required, "Paste a test key, or generate one.")
	wrong.Check(t.makeKey || t.key == "" || (isKey && kind == secret.TestKey && len(t.key) <= maxKey), "key", fault.NotAllowed, "Paste a test key, which starts with lp_test_. Live keys are not accepted here.")
	wrong.Check(len(t.number) <= maxNumber, "other", fault.TooLong, "Use at most 64 characters.")
	return t, wrong.Err()
}

// try serves POST /portal/try. The request is treated like every other request to
// the API: the key, its limits and its networks apply.
func (p *Pages) try(w http.ResponseWriter, r *http.Request) error {
	d := TryData{Numbers: p.testNumbers()}
	t, err := readTrial(r)
	if err == nil && t.makeKey {
		var key access.NewKey
		key, err = p.createTryKey(r)
		t.key, d.KeyCreated = key.Text.Reveal(), err == nil
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		d.Form = form
		return p.ShowInvalid(w, r, err, tryPage, Try(d))
	}
	if err != nil {
		return err
	}
	if err := p.callAPI(r, t, &d); err != nil {
		return err
	}
	d.Form.Values, d.Key = maps.Clone(r.PostForm), t.key
	d.Form.Values.Set("key", t.key) // the next request uses the same key
	return p.Show(w, r, tryPage, Try(d))
}

// createTryKey creates a test key for this page. It replaces those that the visitor
// created here before, so that trying often leaves one key.
func (p *Pages) createTryKey(r *http.Request) (access.NewKey, error) {
	ctx, v := r.Context(), portal.VisitOf(r)
	key, err := p.Access.CreateKey(ctx, access.KeyForm{Entity: v.Who.Entity, Name: tryKeyName, Mode: access.Test, Purpose: tryKeyPurpose, Expires: tryKeyLifetime}, v.Who.Actor(), v.ID)
	if err != nil {
		return access.NewKey{}, err
	}
	keys, err := p.Access.Keys(ctx, v.Who.Entity)
	if err != nil {
		return access.NewKey{}, err
	}
	for i := range keys {
		k := &keys[i]
		if k.ID == key.ID || k.Name != tryKeyName || k.PurposeText != tryKeyPurpose || k.Mode != access.Test || k.CreatedBy != v.Who.Account || !k.Active(p.Now()) {
			continue
		}
		if err := p.Access.RevokeKey(ctx, v.Who.Entity, k.ID, v.Who.Actor(), v.ID); err != nil && !errors.Is(err, access.ErrNoKey) {
			return access.NewKey{}, err
		}
	}
	return key, nil
}

// callAPI sends a trial to the API and puts the request and the response into the
// page.
func (p *Pages) callAPI(r *http.Request, t trial, d *TryData) error {
	body := []byte(`{"phoneNumber":` + quoted(t.number))
	if t.since != "" {
		body = append(body, `,"since":`+quoted(t.since)...)
	}
	if len(t.include) > 0 {
		body = append(body, `,"include":["`+strings.Join(t.include, `","`)+`"]`...)
	}
	body = append(body, '}')
	sent, err := http.NewRequestWithContext(r.Context(), http.MethodPost, verifyPath, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("portal: make a request: %w", err)
	}
	_, sent.Host, _ = strings.Cut(p.BaseURL(r), "://")
	sent.Header.Set("Authorization", "Bearer "+t.key)
	sent.Header.Set("Content-Type", "application/json")
	sent.RemoteAddr, sent.Header["X-Forwarded-For"] = r.RemoteAddr, r.Header["X-Forwarded-For"] // so that the key's networks apply
	response := &recorder{header: http.Header{}, status: http.StatusOK}
	began := time.Now()
	p.API.ServeHTTP(response, sent)
	took := time.Since(began)

	d.Request = "POST " + verifyPath + " HTTP/1.1\nHost: " + sent.Host + "\nAuthorization: Bearer " + secret.Preview(secret.Text(t.key)) +
		"\nContent-Type: application/json\n\n" + kit.IndentJSON(body)
	d.Response = "HTTP/1.1 " + strconv.Itoa(response.status) + " " + http.StatusText(response.status) + "\n"
	for _, name := range []string{"Content-Type", "X-Request-Id", "Ratelimit", "Retry-After"} {
		if value := response.header.Get(name); value != "" {
			d.Response += name + ": " + value + "\n"
		}
	}
	d.Response += "\n" + kit.IndentJSON(response.body.Bytes())
	d.Code, d.Took = response.status, took
	d.Word, d.Tone = response.answer()
	return nil
}

// recorder keeps the response of the API.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *recorder) Header() http.Header { return c.header }

func (c *recorder) WriteHeader(status int) { c.status = status }

func (c *recorder) Write(b []byte) (int, error) { return c.body.Write(b) }

// answer returns the word to look up in the guide: the status of the line, or the
// HTTP status of the error.
func (c *recorder) answer() (string, kit.Tone) {
	var result struct {
		Data struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	if c.status == http.StatusOK && json.Unmarshal(c.body.Bytes(), &result) == nil {
		return result.Data.Status, kit.StatusTone(result.Data.Status)
	}
	return strconv.Itoa(c.status), kit.Warn
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string
	}
	return string(text)
}
