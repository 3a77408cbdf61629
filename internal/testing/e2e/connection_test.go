package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// patience is how long a caller waits for an answer. No request takes as long.
const patience = 40 * time.Second

// errUnsent reports a request of which not a byte left this process.
var errUnsent = errors.New("e2e: the request was not sent")

// wire is one connection of a caller. The standard client would send some
// requests again by itself; here whatever is sent is sent once.
type wire struct {
	address string
	conn    net.Conn
	in      *bufio.Reader
}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send writes a POST as it stands and reads its answer whole.
func (w *wire) send(raw []byte) (answer, error) {
	if err := w.write(raw); err != nil {
		return answer{}, err
	}
	return w.read(http.MethodPost)
}

// write sends raw. A server may answer and close the connection before it has read all, so a
// failure after the first byte is left for read to find.
func (w *wire) write(raw []byte) error {
	if w.conn == nil {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", w.address)
		if err != nil {
			return fmt.Errorf("%w: %w", errUnsent, err)
		}
		w.conn, w.in = conn, bufio.NewReader(conn)
	}
	_ = w.conn.SetDeadline(time.Now().Add(patience))
	if n, err := w.conn.Write(raw); err != nil && n == 0 {
		w.close()
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	return nil
}

// read returns the next answer on the connection.
func (w *wire) read(method string) (answer, error) {
	for {
		resp, err := http.ReadResponse(w.in, &http.Request{Method: method})
		if err != nil {
			w.close()
			return answer{}, fmt.Errorf("e2e: no answer: %w", err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			w.close()
			return answer{}, fmt.Errorf("e2e: the answer was cut: %w", err)
		}
		if resp.StatusCode < http.StatusOK {
			continue // 100 Continue and its like
		}
		if resp.Close {
			w.close()
		}
		return answer{resp.StatusCode, resp.Header, body}, nil
	}
}

// hangUp says that nothing more will be sent. Unless it is at once, it waits a
// moment for the answer to begin: a caller who closes the connection ends the handler early
// and does not see what it would have done.
func (w *wire) hangUp(atOnce bool) {
	if !atOnce {
		_ = w.conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = w.in.Peek(1) // read tells what it was
		_ = w.conn.SetReadDeadline(time.Now().Add(patience))
	}
	if half, ok := w.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// post returns a well-formed request. Headers are given as name, value, name,
// value.
func post(path, contentType string, body []byte, headers ...string) []byte {
	var b bytes.Buffer
	b.WriteString("POST " + path + " HTTP/1.1\r\nHost: lineproof.test\r\nContent-Type: " + contentType + "\r\n")
	b.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	for i := 0; i+1 < len(headers); i += 2 {
		b.WriteString(headers[i] + ": " + headers[i+1] + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
