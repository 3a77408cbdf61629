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

// The request that the generator sends is one that net/http reads, with the
// number that was asked for, each time anew.
func TestQuestionCarriesTheNumber(t *testing.T) {
	t.Parallel()

	q := newQuestion("lp_live_x")
	for _, number := range []int64{firstNumber, firstNumber + mostLines - 1, 234_805_012_3456} {
		q.about(number)
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(q.raw)))
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

// An answer is read whole, so that the next one begins where it should, and
// what cannot be understood is an error and never an answer.
func TestRepliesAreReadWhole(t *testing.T) {
	t.Parallel()

	stream := bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 5\r\n\r\nhello" +
		"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
	for _, want := range []reply{{status: 200}, {status: 503, retryAfter: true, closing: true}} {
		if got, err := readReply(stream); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, text := range []string{
		"", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
	} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}
