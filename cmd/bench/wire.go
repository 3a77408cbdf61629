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

// numberDigits is how many digits every number of the bench has, so that one
// can be written over another.
const numberDigits = 13

// question is a request as bytes, with a place where the number goes.
type question struct {
	raw []byte
	at  int // where the digits of the number begin
}

// newQuestion returns the request of one caller. It shares nothing with that of
// another.
func newQuestion(key string) question {
	body := `{"phoneNumber":"+` + string(bytes.Repeat([]byte{'0'}, numberDigits)) + `"}`
	raw := "POST " + verifyPath + " HTTP/1.1\r\nHost: bench.test\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	return question{raw: []byte(raw), at: len(raw) - numberDigits - len(`"}`)}
}

// about writes the number into the request.
func (q question) about(number int64) {
	for i := q.at + numberDigits - 1; i >= q.at; i-- {
		q.raw[i] = byte('0' + number%10)
		number /= 10
	}
}

// reply is what is read of an answer. The body is read whole and dropped.
type reply struct {
	status     int
	retryAfter bool
	closing    bool // the server hangs up after it
}

var (
	errNotHTTP  = errors.New("bench: the answer is not HTTP/1.1")
	errNoLength = errors.New("bench: the answer does not say how long it is")
	errBehind   = errors.New("bench: all connections wait for answers, and more questions wait than they could take in ten seconds")
)

// readReply reads one answer, and no more of it than a caller must: it is the
// generator's own cost, and the same for every variant.
func readReply(in *bufio.Reader) (r reply, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return r, fmt.Errorf("bench: no answer: %w", err)
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
			return r, fmt.Errorf("bench: the answer was cut: %w", err)
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
		return r, fmt.Errorf("bench: the answer was cut: %w", err)
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

// caller is one connection and the request that goes over it.
type caller struct {
	address  string
	question question
	deadline time.Time // by which everything is over
	conn     net.Conn
	in       *bufio.Reader
}

// ask sends the question about a number and reads the answer. A connection that
// broke is made anew with the next question.
func (c *caller) ask(ctx context.Context, number int64) (reply, error) {
	if err := c.connect(ctx); err != nil {
		return reply{}, err
	}
	c.question.about(number)
	if _, err := c.conn.Write(c.question.raw); err != nil {
		c.hangUp()
		return reply{}, fmt.Errorf("bench: ask: %w", err)
	}
	r, err := readReply(c.in)
	if err != nil || r.closing {
		c.hangUp()
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
	_ = conn.SetDeadline(c.deadline) // once, so that no request pays for a timer
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 4<<10)
	return nil
}

func (c *caller) hangUp() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// refused reports the one answer by which the service asks to come back later.
func (r reply) refused() bool { return r.status == http.StatusServiceUnavailable }
