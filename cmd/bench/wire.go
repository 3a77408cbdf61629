package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

const verifyPath = "/api/v1/phone/api/phone-numbers/verify"

// numberDigits is the number of digits of every phone number of the bench, so that
// one can overwrite another.
const numberDigits = 13

// request is a request as bytes, with a place for the number.
type request struct {
	raw []byte
	at  int // offset of the first digit of the number
}

// newRequest returns the request of one caller. It shares no memory with the
// requests of other callers.
func newRequest(key string) request {
	body := `{"phoneNumber":"+` + string(bytes.Repeat([]byte{'0'}, numberDigits)) + `"}`
	raw := "POST " + verifyPath + " HTTP/1.1\r\nHost: bench.test\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	return request{raw: []byte(raw), at: len(raw) - numberDigits - len(`"}`)}
}

// setNumber writes the number into the request.
func (r request) setNumber(number int64) {
	for i := r.at + numberDigits - 1; i >= r.at; i-- {
		r.raw[i] = byte('0' + number%10)
		number /= 10
	}
}

// response is the part of a response that is kept. The body is read completely and
// discarded.
type response struct {
	status     int
	retryAfter bool
	closing    bool // the server closes the connection after it
}

var (
	errNotHTTP   = errors.New("bench: the response is not HTTP/1.1")
	errNoLength  = errors.New("bench: the response has no valid Content-Length")
	errQueueFull = errors.New("bench: the queue is full: all connections wait for responses, and the requests of ten seconds wait for a connection")
)

// readResponse reads one response and parses no more of it than it must: parsing is
// the generator's own cost, and the same for every variant.
func readResponse(in *bufio.Reader) (r response, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return r, fmt.Errorf("bench: no response: %w", err)
	}
	if len(line) < 13 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return r, errNotHTTP
	}
	if r.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return r, errNotHTTP
	}
	length := -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return r, fmt.Errorf("bench: incomplete response: %w", err)
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := header(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return r, errNoLength
			}
		} else if _, ok := header(line, "Retry-After: "); ok {
			r.retryAfter = true
		} else if value, ok := header(line, "Connection: "); ok {
			r.closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length < 0 {
		return r, errNoLength
	}
	if _, err = in.Discard(length); err != nil {
		return r, fmt.Errorf("bench: incomplete response: %w", err)
	}
	return r, nil
}

// header returns the value of a header line if it has that name.
func header(line []byte, name string) ([]byte, bool) {
	if len(line) < len(name) || line[0]|0x20 != name[0]|0x20 || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return bytes.TrimRight(line[len(name):], "\r\n"), true
}

// caller is one connection and its request.
type caller struct {
	address  string
	request  request
	deadline time.Time // of the connection
	conn     net.Conn
	in       *bufio.Reader
}

// send sends the request for a number and reads the response. A broken connection
// is reopened by the next request.
func (c *caller) send(ctx context.Context, number int64) (response, error) {
	if err := c.connect(ctx); err != nil {
		return response{}, err
	}
	c.request.setNumber(number)
	if _, err := c.conn.Write(c.request.raw); err != nil {
		c.close()
		return response{}, fmt.Errorf("bench: send: %w", err)
	}
	r, err := readResponse(c.in)
	if err != nil || r.closing {
		c.close()
	}
	return r, err
}

func (c *caller) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return fmt.Errorf("bench: connect: %w", err)
	}
	_ = conn.SetDeadline(c.deadline) // set once, so that no request needs a timer
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 4<<10)
	return nil
}

func (c *caller) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// refused reports whether the service is overloaded and asks to retry later.
func (r response) refused() bool { return r.status == http.StatusServiceUnavailable }
