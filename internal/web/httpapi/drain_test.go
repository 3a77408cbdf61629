package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A caller who sends a large body that is not read, with Connection: close,
// gets the whole response: the connection is not reset before that.
func TestUnreadBodyDoesNotBreakTheResponse(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	server := httptest.NewUnstartedServer(s.handler)
	closed := make(chan struct{}, 1)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	body := strings.Repeat("8", 200_000)
	for _, path := range []string{"/openapi.json", "/api/regulator/v1/nothing"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body); err != nil {
			t.Errorf("%s: the body was not taken: %v", path, err)
		}
		select { // by then a reset would be here, too
		case <-closed:
		case <-time.After(time.Second):
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || n == 0 {
			t.Errorf("%s: the answer was cut after %d bytes: %v", path, n, err)
		}
		if err := errors.Join(answer.Body.Close(), conn.Close()); err != nil {
			t.Error(err)
		}
	}
}
