package keytest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Fill returns the requests that a request becomes when one of its texts is replaced by a
// label: each field of its body and query, each part of its path that the pattern of the
// route leaves open, and the headers that carry texts of a caller.
func Fill(t testing.TB, r *http.Request, pattern, label string) (filled []*http.Request) {
	t.Helper()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body)) // for the next label
	}
	with := func(body []byte, change func(*http.Request)) {
		c := r.Clone(t.Context())
		c.Body, c.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if change != nil {
			change(c)
		}
		filled = append(filled, c)
	}
	with(body, func(c *http.Request) {
		for _, name := range []string{"Idempotency-Key", "X-Correlator", "Last-Event-ID", "User-Agent"} {
			c.Header.Set(name, label)
		}
	})
	with(body, func(c *http.Request) { c.SetBasicAuth("00000000-0000-0000-0000-000000000000", label) })
	with(body, func(c *http.Request) { c.Header.Set("Authorization", "Bearer "+label) })
	open := strings.Split(pattern, "/")
	for i, sent := range strings.Split(r.URL.Path, "/") {
		if i < len(open) && strings.HasPrefix(open[i], "{") && sent != "" {
			with(body, func(c *http.Request) {
				parts := strings.Split(r.URL.Path, "/")
				parts[i] = label
				c.URL.Path, c.URL.RawPath = strings.Join(parts, "/"), ""
			})
		}
	}
	for name := range r.URL.Query() {
		with(body, func(c *http.Request) {
			q := c.URL.Query()
			q.Set(name, label)
			c.URL.RawQuery = q.Encode()
		})
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		var v any
		if json.Unmarshal(body, &v) == nil {
			eachText(v, func(set func(string), was string) {
				set(label)
				text, _ := json.Marshal(v)
				set(was)
				with(text, nil)
			})
		}
	case "application/x-www-form-urlencoded":
		form, _ := url.ParseQuery(string(body))
		for name, was := range form {
			form[name] = []string{label}
			with([]byte(form.Encode()), nil)
			form[name] = was
		}
	case "multipart/form-data":
		for n := range 16 {
			text, replaced := fillPart(t, body, params["boundary"], n, label)
			if !replaced {
				break
			}
			with(text, nil)
		}
	}
	return filled
}

// Send sends a request and returns the answer, or what came of a stream until now.
func Send(t testing.TB, to http.Handler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res := httptest.NewRecorder()
	to.ServeHTTP(res, r.WithContext(ctx))
	return res
}

// patience is how long a request may take. Only streams take that long.
const patience = time.Second

// eachText calls fn for every text in a JSON value.
func eachText(v any, fn func(set func(string), was string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if was, ok := child.(string); ok {
				fn(func(s string) { v[name] = s }, was)
			}
			eachText(child, fn)
		}
	case []any:
		for i, child := range v {
			if was, ok := child.(string); ok {
				fn(func(s string) { v[i] = s }, was)
			}
			eachText(child, fn)
		}
	}
}

// fillPart replaces the content of the part with a number. It returns false if there is none.
func fillPart(t testing.TB, body []byte, boundary string, number int, label string) (text []byte, replaced bool) {
	t.Helper()
	var b bytes.Buffer
	in, out := multipart.NewReader(bytes.NewReader(body), boundary), multipart.NewWriter(&b)
	if err := out.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		part, err := in.NextRawPart()
		if err == io.EOF { //nolint:errorlint // documented to be returned as it is
			break
		}
		if err != nil {
			return nil, false
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		if n == number {
			content, replaced = []byte(label), true
		}
		to, err := out.CreatePart(part.Header)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = to.Write(content) // a buffer does not fail
	}
	_ = out.Close()
	return b.Bytes(), replaced
}
