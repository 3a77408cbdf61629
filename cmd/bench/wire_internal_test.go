package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// The generator's request is valid for net/http and has the given number each
// time.
func TestRequestHasTheNumber(t *testing.T) {
	t.Parallel()

	request := newRequest("lp_live_x")
	for _, number := range []int64{firstNumber, firstNumber + maxLines - 1, 234_805_012_3456} {
		request.setNumber(number)
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request.raw)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		want := `{"phoneNumber":"+` + strconv.FormatInt(number, 10) + `"}`
		if err != nil || string(body) != want || r.ContentLength != int64(len(want)) {
			t.Errorf("body %s of length %d, %v; want %s", body, r.ContentLength, err, want)
		}
		if r.Method != http.MethodPost || r.URL.Path != verifyPath || r.Header.Get("Authorization") != "Bearer lp_live_x" {
			t.Errorf("%s %s with %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
	}
}

// A response is read completely, so that the next one starts at the right byte,
// and a malformed response is an error.
func TestResponsesAreReadCompletely(t *testing.T) {
	t.Parallel()

	stream := bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 5\r\n\r\nhello" +
		"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
	for _, want := range []response{{status: 200}, {status: 503, retryAfter: true, closing: true}} {
		if got, err := readResponse(stream); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, text := range []string{
		"", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
	} {
		if got, err := readResponse(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q was parsed as %+v", text, got)
		}
	}
}
