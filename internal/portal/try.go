package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

var tryPage = view.Page{Title: "Try it", Lead: "Sends a real request with a key for tests, and shows what goes out and what comes back.", Active: tryPath}

// tryKeyTime is how long a key stands that is made here.
const tryKeyTime = 24 * time.Hour

const (
	mostKey    = 256
	mostNumber = 64
)

// showTry serves GET /portal/try.
func (p *Portal) showTry(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, tryPage, view.Try(view.TryData{Numbers: p.testNumbers()}))
}

// testNumbers are those that can be tried.
func (p *Portal) testNumbers() []view.Option {
	if p.Stage == nil {
		return nil
	}
	roles := p.Stage.Roles()
	options := make([]view.Option, len(roles))
	for i, role := range roles {
		number := role.Number.E164()
		options[i] = view.Option{Value: number, Label: number + " · " + role.Title}
	}
	return options
}

// trial is what somebody wants to send.
type trial struct {
	key    string
	number string
	since  string
	words  []string // of include
	make   bool     // a key first
}

func readTrial(r *http.Request) (t trial, err error) {
	t = trial{
		key: strings.TrimSpace(r.PostFormValue("key")), number: strings.TrimSpace(r.PostFormValue("other")), since: strings.TrimSpace(r.PostFormValue("since")),
		make: r.PostFormValue("make") == "yes",
	}
	if t.number == "" {
		t.number = r.PostFormValue("phoneNumber")
	}
	for _, word := range []string{"signals", "coverage"} {
		if r.PostFormValue(word) == "yes" {
			t.words = append(t.words, word)
		}
	}
	var wrong fault.Form
	kind, isKey := secret.Parse(t.key)
	wrong.Check(t.make || t.key != "", "key", fault.Required, "Paste a key for tests, or have one made.")
	wrong.Check(t.make || t.key == "" || (isKey && kind == secret.TestKey && len(t.key) <= mostKey), "key", fault.NotAllowed, "Paste a key for tests, which begins with lp_test_. Live keys are not taken here.")
	wrong.Check(len(t.number) <= mostNumber, "other", fault.TooLong, "Use at most 64 characters.")
	return t, wrong.Err()
}

// try serves POST /portal/try. What it sends goes the way of every other request
// to the API: the key, its limits and its networks count.
func (p *Portal) try(w http.ResponseWriter, r *http.Request) error {
	v, d := visitOf(r), view.TryData{Numbers: p.testNumbers()}
	t, err := readTrial(r)
	if err == nil && t.make {
		var key access.NewKey
		key, err = p.Keeper.CreateKey(r.Context(), access.KeyForm{Entity: v.who.Entity, Name: "Try it", Mode: access.Test, Purpose: "trying it in the portal", Expires: tryKeyTime}, v.who.Actor(), v.id)
		t.key, d.Made = key.Text.Reveal(), err == nil
	}
	if form, wrong := formOf(r, err); wrong {
		d.Form = form
		return p.showAgain(w, r, err, tryPage, view.Try(d))
	}
	if err != nil {
		return err
	}
	if err := p.send(r, t, &d); err != nil {
		return err
	}
	d.Form.Values, d.Key = maps.Clone(r.PostForm), t.key
	d.Form.Values.Set("key", t.key) // for the next one
	return p.show(w, r, tryPage, view.Try(d))
}

// send sends a trial to the API and puts what came of it into the page.
func (p *Portal) send(r *http.Request, t trial, d *view.TryData) error {
	body := []byte(`{"phoneNumber":` + quoted(t.number))
	if t.since != "" {
		body = append(body, `,"since":`+quoted(t.since)...)
	}
	if len(t.words) > 0 {
		body = append(body, `,"include":["`+strings.Join(t.words, `","`)+`"]`...)
	}
	body = append(body, '}')
	sent, err := http.NewRequestWithContext(r.Context(), http.MethodPost, verifyPath, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("portal: make a request: %w", err)
	}
	_, sent.Host, _ = strings.Cut(p.base(r), "://")
	sent.Header.Set("Authorization", "Bearer "+t.key)
	sent.Header.Set("Content-Type", "application/json")
	sent.RemoteAddr, sent.Header["X-Forwarded-For"] = r.RemoteAddr, r.Header["X-Forwarded-For"] // so that the key's networks count
	heard := &listener{header: http.Header{}, status: http.StatusOK}
	began := time.Now()
	p.API.ServeHTTP(heard, sent)
	took := time.Since(began)

	d.Request = "POST " + verifyPath + " HTTP/1.1\nHost: " + sent.Host + "\nAuthorization: Bearer " + secret.Preview(secret.Text(t.key)) +
		"\nContent-Type: application/json\n\n" + indented(body)
	d.Response = "HTTP/1.1 " + strconv.Itoa(heard.status) + " " + http.StatusText(heard.status) + "\n"
	for _, name := range []string{"Content-Type", "X-Request-Id", "Ratelimit", "Retry-After"} {
		if value := heard.header.Get(name); value != "" {
			d.Response += name + ": " + value + "\n"
		}
	}
	d.Response += "\n" + indented(heard.body.Bytes())
	d.Code, d.Took = heard.status, took
	d.Word, d.Tone = heard.word()
	return nil
}

// listener hears what the API answers.
type listener struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (l *listener) Header() http.Header         { return l.header }
func (l *listener) WriteHeader(status int)      { l.status = status }
func (l *listener) Write(b []byte) (int, error) { return l.body.Write(b) }

// word returns what to look up in the guide: the status of the line, or that of
// the error.
func (l *listener) word() (string, view.Tone) {
	var said struct {
		Data struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	if l.status == http.StatusOK && json.Unmarshal(l.body.Bytes(), &said) == nil {
		return said.Data.Status, toneOf(said.Data.Status)
	}
	return strconv.Itoa(l.status), view.Warn
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string
	}
	return string(text)
}

// indented returns JSON with a line for each field, or the text as it is.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") == nil {
		return b.String()
	}
	return string(text)
}
