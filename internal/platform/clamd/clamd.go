// Package clamd is a client of ClamAV's daemon, clamd. It scans files for viruses.
//
// It fails closed. A file is clean only if clamd received all of it and replied
// with exactly the text that says so. Anything else is an error and never a
// verdict: a broken connection, a timeout, a limit, an unknown reply.
package clamd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

var (
	// ErrUnavailable reports that clamd could not be reached, that the connection
	// broke or that it did not reply in time. Try again later.
	ErrUnavailable = errors.New("clamd: the scanner is unavailable")
	// ErrLimit reports that the file is too large or too deeply nested for the
	// limits of clamd, so that it did not scan all of it. A retry does not help.
	ErrLimit = errors.New("clamd: the file exceeds a limit of the scanner")
	// ErrDeep is an ErrLimit of a file that unpacks to more than clamd scans.
	ErrDeep = errors.New("clamd: not everything packed into the file was scanned")
	// ErrTestFileMissed reports that clamd does not detect the test file, which every
	// scanner must detect.
	ErrTestFileMissed = errors.New("clamd: the scanner does not detect the test file")
)

// Scanner is one clamd.
type Scanner struct {
	Address string        // unix:/run/clamav/clamd.ctl, or host:port
	Timeout time.Duration // for one file from the first byte to the verdict
}

// Verdict is the result of scanning a complete file.
type Verdict struct {
	Infected  bool
	Signature string // the name of the virus; empty if there is none
}

const (
	// chunk is the number of bytes per chunk; a scan needs one buffer of it.
	chunk = 64 << 10
	// maxReply bounds the reply. clamd's are far shorter.
	maxReply = 4 << 10
	// dialTimeout is how long clamd may take to accept a connection.
	dialTimeout = 5 * time.Second
	// commandTimeout is how long a command without a file may take. clamd replies
	// late while it reloads its signatures.
	commandTimeout = 30 * time.Second
)

// Scan sends the content of r and returns clamd's verdict about all of it. An error
// of r is returned unchanged.
func (s *Scanner) Scan(ctx context.Context, r io.Reader) (Verdict, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, ErrUnavailable)
	defer cancel()
	conn, done, err := s.dial(ctx)
	if err != nil {
		return Verdict{}, err
	}
	defer done()

	// The reply is read concurrently, because clamd may reject the file before all of
	// it is sent.
	type replyResult struct {
		text string
		err  error
	}
	replied := make(chan replyResult, 1)
	go func() {
		text, err := reply(conn)
		replied <- replyResult{text, err}
	}()
	sendErr := send(conn, r)
	if failed, ok := errors.AsType[*readError](sendErr); ok {
		return Verdict{}, failed.err // the connection is closed before the end of the stream, so clamd scans nothing
	}
	answer := <-replied
	if answer.err != nil {
		return Verdict{}, unavailable(ctx, errors.Join(sendErr, answer.err))
	}
	v, err := verdict(answer.text)
	if err == nil && sendErr != nil && !v.Infected {
		return Verdict{}, unavailable(ctx, sendErr) // clean, but it did not receive the whole file
	}
	return v, err
}

// Version returns clamd's version and, with the official signatures, their number
// and date.
func (s *Scanner) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, ErrUnavailable)
	defer cancel()
	conn, done, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if _, err := io.WriteString(conn, "zVERSION\x00"); err != nil {
		return "", unavailable(ctx, err)
	}
	text, err := reply(conn)
	if err != nil {
		return "", unavailable(ctx, err)
	}
	if !strings.HasPrefix(text, "ClamAV ") {
		return "", fmt.Errorf("clamd: the server is not ClamAV: %q", text)
	}
	return text, nil
}

// dial returns a connection that ends with ctx, and a function that closes it.
func (s *Scanner) dial(ctx context.Context) (conn net.Conn, done func(), err error) {
	network, address := "tcp", s.Address
	if path, ok := strings.CutPrefix(s.Address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, nil, unavailable(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() {
		stop()
		_ = conn.Close()
	}, nil
}

// readError is an error of the file, not of the scanner.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// send writes r as a stream of chunks, each preceded by its length, and an empty
// chunk at the end.
func send(w io.Writer, r io.Reader) error {
	if _, err := io.WriteString(w, "zINSTREAM\x00"); err != nil {
		return err
	}
	buf := make([]byte, 4+chunk)
	for {
		n, err := io.ReadFull(r, buf[4:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return &readError{err}
		}
		if n > 0 {
			binary.BigEndian.PutUint32(buf, uint32(n)) //nolint:gosec // at most a chunk
			if _, err := w.Write(buf[:4+n]); err != nil {
				return err
			}
		}
		if err != nil {
			_, err := w.Write([]byte{0, 0, 0, 0})
			return err
		}
	}
}

// reply reads one reply, which ends with a zero byte. Without it the reply is
// incomplete.
func reply(r io.Reader) (string, error) {
	text, err := bufio.NewReader(io.LimitReader(r, maxReply)).ReadString(0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimSuffix(text, "\x00"), err
}

// verdict parses clamd's reply to a stream.
func verdict(text string) (Verdict, error) {
	if text == "stream: OK" {
		return Verdict{}, nil
	}
	if name, ok := strings.CutSuffix(text, " FOUND"); ok {
		name, ok = strings.CutPrefix(name, "stream: ")
		switch {
		case !ok || name == "":
		case strings.HasPrefix(name, "Heuristics.Limits.Exceeded"):
			return Verdict{}, fmt.Errorf("%w: %w: %s", ErrLimit, ErrDeep, name)
		default:
			return Verdict{Infected: true, Signature: name}, nil
		}
	}
	if strings.HasSuffix(text, "size limit exceeded. ERROR") {
		return Verdict{}, fmt.Errorf("%w: StreamMaxLength", ErrLimit)
	}
	return Verdict{}, fmt.Errorf("clamd: the reply is not a verdict: %q", text)
}

// unavailable returns ErrUnavailable, or the cause if the caller cancelled.
func unavailable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ErrUnavailable) {
		return fmt.Errorf("clamd: %w", cause)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Signatures returns the date of the signatures in a version such as "ClamAV
// 1.4.6/27345/Tue Jul 16 08:30:00 2024". Custom signatures have no date. clamd
// writes it in its local time zone, so it may be a few hours off.
func Signatures(version string) (created time.Time, ok bool) {
	parts := strings.SplitN(version, "/", 3)
	if len(parts) != 3 {
		return time.Time{}, false
	}
	created, err := time.Parse(time.ANSIC, strings.TrimSpace(parts[2]))
	return created, err == nil
}
