package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// statuses is every status that the API may answer with. 500 is not one of
// them.
var statuses = []int{200, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503}

// unparsed is what net/http itself answers to what is not HTTP, before any of
// our code runs.
var unparsed = []int{400, 417, 431, 501, 505}

// complaint says what is wrong with an answer, or "".
func complaint(method string, a answer) string {
	h := a.header
	id := h.Get("X-Request-Id")
	kind := h.Get("Content-Type")
	switch {
	case id == "":
		if !slices.Contains(unparsed, a.status) || kind != "" && !strings.HasPrefix(kind, "text/plain") {
			return "an answer without a request id that is not net/http's own"
		}
		return ""
	case uuid.Validate(id) != nil:
		return "the request id is none"
	case a.status >= 500 && a.status != http.StatusServiceUnavailable:
		return "an error of ours"
	case h.Get("Content-Security-Policy") != "": // the reference for people
		return ""
	case !slices.Contains(statuses, a.status):
		return "a status that is not in the contract"
	case kind != "application/json":
		return "an answer that is not JSON"
	case method == http.MethodHead:
		return ""
	}
	if wrong := headersFor(a); wrong != "" {
		return wrong
	}
	return envelopeFault(a, id)
}

// headersFor checks the headers that go with a status.
func headersFor(a answer) string {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	switch {
	case a.status == http.StatusServiceUnavailable && (err != nil || seconds < 1):
		return "503 without Retry-After"
	case a.status == http.StatusTooManyRequests && (err != nil || seconds < 1):
		return "429 without Retry-After"
	case a.status == http.StatusUnauthorized && a.header.Get("WWW-Authenticate") == "":
		return "401 without WWW-Authenticate"
	case a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "":
		return "405 without Allow"
	}
	return ""
}

// envelopeFault checks the body.
func envelopeFault(a answer, id string) string {
	var body struct {
		Status     string          `json:"status"`
		StatusCode string          `json:"statusCode"`
		Data       json.RawMessage `json:"data"`
	}
	if !utf8.Valid(a.body) || json.Unmarshal(a.body, &body) != nil {
		return "the body is not JSON"
	}
	word := "Error"
	if a.status == http.StatusOK {
		word = "Success"
	}
	if body.Status != word || body.StatusCode != strconv.Itoa(a.status) || len(body.Data) == 0 || bytes.Equal(body.Data, []byte("null")) {
		return "the envelope does not fit the status"
	}
	if a.status == http.StatusOK {
		return ""
	}
	var problem struct {
		Code, Message, RequestID string
		Violations               []struct{ Field, Code, Message string }
	}
	if json.Unmarshal(body.Data, &problem) != nil || problem.Code == "" || problem.Message == "" || problem.Violations == nil || problem.RequestID != id {
		return "the problem is not complete"
	}
	for _, v := range problem.Violations {
		if v.Code == "" || v.Message == "" {
			return "a violation is not complete"
		}
	}
	return ""
}

// placeholders are the credentials of a fixture, by the names under which they
// stand in a file. Each is as long in every fixture, so lengths stay right.
func (w *fixture) placeholders() map[string]string {
	return map[string]string{
		w.token: "{{token}}", w.weak: "{{weak-token}}", w.session: "{{session}}", w.key.Text.Reveal(): "{{key}}",
		w.testKey: "{{test-key}}", w.client.Secret.Reveal(): "{{client-secret}}", w.client.ID.String(): "{{client-id}}",
		w.telco.ID.String(): "{{telco}}", w.bank.ID.String(): "{{bank}}", w.basic(): "{{basic}}",
	}
}

// basic returns the client's id and secret as HTTP Basic writes them.
func (w *fixture) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(w.client.ID.String() + ":" + w.client.Secret.Reveal()))
}

// hide returns a request as it can be kept in a file; show is its reverse.
func (w *fixture) hide(raw []byte) []byte {
	for text, name := range w.placeholders() {
		raw = bytes.ReplaceAll(raw, []byte(text), []byte(name))
	}
	return raw
}

func (w *fixture) show(raw []byte) []byte {
	for text, name := range w.placeholders() {
		raw = bytes.ReplaceAll(raw, []byte(name), []byte(text))
	}
	return raw
}

// describe says in one line what an answer was, for the log of a test.
func describe(a answer) string {
	return fmt.Sprintf("%d %s %.300q", a.status, a.header.Get("Content-Type"), a.body)
}
