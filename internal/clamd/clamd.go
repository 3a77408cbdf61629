// Package clamd asks ClamAV's daemon, clamd, whether a file is infected.
//
// It fails closed. A file is clean only when clamd was sent all of it and
// answered in exactly the words that say so. Anything else is an error and never
// a verdict: a connection that is cut, silence, a limit, words we do not know.
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
	// ErrAway says that clamd could not be reached, was cut off or did not answer
	// in time. Ask again later.
	ErrAway = errors.New("clamd: the scanner is away")
	// ErrLimit says that clamd does not look at the whole of a file that large or
	// that nested: its limits are too low. Asking again does not help.
	ErrLimit = errors.New("clamd: the file exceeds a limit of the scanner")
	// ErrDeep is an ErrLimit of a file that unpacks to more than clamd looks at.
	ErrDeep = errors.New("clamd: not all that is packed into the file was looked at")
	// ErrBlind says that clamd passes a file that every scanner must find.
	ErrBlind = errors.New("clamd: the scanner passes the test file")
)

// Scanner is one clamd.
type Scanner struct {
	Address string        // unix:/run/clamav/clamd.ctl, or host:port
	Timeout time.Duration // for one file from the first byte to the verdict
}

// Verdict is what clamd says about a whole file.
type Verdict struct {
	Infected  bool
	Signature string // the name of what was found; empty when nothing was
}

const (
	// chunk is how much is sent at once; one buffer of it is all a scan needs.
	chunk = 64 << 10
	// maxReply is the longest answer that is read. clamd's are far shorter.
	maxReply = 4 << 10
	// dialTimeout is how long clamd may take to accept a connection.
	dialTimeout = 5 * time.Second
	// commandTimeout is how long a question without a file may take. A base that
	// is being loaded again delays the answer.
	commandTimeout = 30 * time.Second
)

// Scan sends what r yields, and returns clamd's verdict about all of it. An
// error of r is passed on as it is.
func (s *Scanner) Scan(ctx context.Context, r io.Reader) (Verdict, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, ErrAway)
	defer cancel()
	conn, done, err := s.dial(ctx)
	if err != nil {
		return Verdict{}, err
	}
	defer done()

	// The answer is read meanwhile, for clamd may refuse before all is sent.
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := reply(conn)
		answered <- answer{text, err}
	}()
	sent := send(conn, r)
	var failed *readError
	if errors.As(sent, &failed) {
		return Verdict{}, failed.err // the connection is closed without the end of the stream: nothing was asked
	}
	a := <-answered
	if a.err != nil {
		return Verdict{}, away(ctx, errors.Join(sent, a.err))
	}
	v, err := verdict(a.text)
	if err == nil && sent != nil && !v.Infected {
		return Verdict{}, away(ctx, sent) // clean, of a file that it was not sent whole
	}
	return v, err
}

// Version returns what clamd says of itself: its version, and the number and
// date of its signatures when they are the official ones.
func (s *Scanner) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, ErrAway)
	defer cancel()
	conn, done, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if _, err := io.WriteString(conn, "zVERSION\x00"); err != nil {
		return "", away(ctx, err)
	}
	text, err := reply(conn)
	if err != nil {
		return "", away(ctx, err)
	}
	if !strings.HasPrefix(text, "ClamAV ") {
		return "", fmt.Errorf("clamd: it does not say that it is ClamAV: %q", text)
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
		return nil, nil, away(ctx, err)
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

// send writes r as a stream of chunks, each with its length before it, and an
// empty one as its end.
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

// reply reads one answer, which a zero byte ends. An answer without its end was
// cut off.
func reply(r io.Reader) (string, error) {
	text, err := bufio.NewReader(io.LimitReader(r, maxReply)).ReadString(0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimSuffix(text, "\x00"), err
}

// verdict reads clamd's answer about a stream.
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
	return Verdict{}, fmt.Errorf("clamd: an answer that is no verdict: %q", text)
}

// away says that clamd is away, or, when it was the caller who gave up, that.
func away(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ErrAway) {
		return fmt.Errorf("clamd: %w", cause)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// Signatures returns when the signatures were made that a version names, such as
// "ClamAV 1.4.6/27345/Tue Jul 16 08:30:00 2024". Signatures of one's own have no
// date. clamd writes it in its own time zone, so it may be a few hours off.
func Signatures(version string) (made time.Time, ok bool) {
	parts := strings.SplitN(version, "/", 3)
	if len(parts) != 3 {
		return time.Time{}, false
	}
	made, err := time.Parse(time.ANSIC, strings.TrimSpace(parts[2]))
	return made, err == nil
}
