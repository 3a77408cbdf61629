// Package mailtest starts an SMTP server for a test: it serves the protocol over a
// socket, with TLS and passwords, and stores the received e-mails.
//
// It is built on github.com/emersion/go-smtp, which mail servers in production use
// too. It needs nothing but Go and starts in a millisecond, so that every test can
// have a server and make it reject e-mails.
package mailtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The login that a server with TLS requires.
const (
	User     = "lineproof"
	Password = "a password for tests"
)

// Message is a received e-mail.
type Message struct {
	From, To, Subject, Text, HTML string
	Header                        mail.Header
}

// Server is a running SMTP server.
type Server struct {
	// Roots has the root of its certificate; nil without TLS.
	Roots *x509.CertPool

	scheme string
	at     net.Addr

	mu       sync.Mutex
	messages []Message
	refusal  *smtp.SMTPError
	attempts int
	arrived  chan struct{} // closed and replaced with each e-mail
}

// Start runs a local server without TLS until the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return start(tb, "smtp", nil)
}

// StartTLS runs a server that requires STARTTLS and a password.
func StartTLS(tb testing.TB) *Server {
	tb.Helper()
	config, roots := certificate(tb)
	s := start(tb, "smtp", config)
	s.Roots = roots
	return s
}

// StartWithTLS runs a server with TLS from the start, which requires a password.
func StartWithTLS(tb testing.TB) *Server {
	tb.Helper()
	config, roots := certificate(tb)
	s := start(tb, "smtps", config)
	s.Roots = roots
	return s
}

func start(tb testing.TB, scheme string, config *tls.Config) *Server {
	tb.Helper()
	ln, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{scheme: scheme, at: ln.Addr(), arrived: make(chan struct{})}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{server: s, needsLogin: config != nil}, nil
	}))
	server.Domain, server.TLSConfig, server.MaxMessageBytes, server.MaxRecipients = "mail.example", config, 1<<20, 1
	server.ReadTimeout, server.WriteTimeout = 10*time.Second, 10*time.Second
	server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if scheme == "smtps" {
		ln = tls.NewListener(ln, config)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(ln) // it ends when it is closed
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return s
}

// URL is the address of the server, with the login if it requires one.
func (s *Server) URL() string {
	if s.Roots != nil {
		return s.scheme + "://" + User + ":" + strings.ReplaceAll(Password, " ", "%20") + "@" + s.at.String()
	}
	return s.scheme + "://" + s.at.String()
}

// Refuse makes the server reject every e-mail with a status code and a text that
// contains the address; 0 ends that.
func (s *Server) Refuse(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = nil
	if code != 0 {
		s.refusal = &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}}
	}
}

// Connections returns how many times a client tried to deliver an e-mail.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts
}

// Messages returns the e-mails received so far.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// waits is how long an e-mail may take: when a node was killed that had tried to send it, until
// another one may lead the queue, which takes 15 s, and looks for what is to be tried again.
const waits = 45 * time.Second

// Wait returns the first e-mail to an address with this text in its subject, or
// fails the test if none arrives in time.
func (s *Server) Wait(tb testing.TB, to, subject string) Message {
	tb.Helper()
	timeout := time.After(waits)
	for {
		s.mu.Lock()
		arrived := s.arrived
		for _, l := range s.messages {
			if strings.EqualFold(l.To, to) && strings.Contains(l.Subject, subject) {
				s.mu.Unlock()
				return l
			}
		}
		s.mu.Unlock()
		select {
		case <-arrived:
		case <-timeout:
			tb.Fatalf("no e-mail with subject %q arrived; %d others did", subject, len(s.Messages()))
		}
	}
}

// Forget deletes the received e-mails.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = nil
}

// session is one SMTP session.
type session struct {
	server     *Server
	needsLogin bool
	from, to   string
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string {
	if s.needsLogin {
		return []string{sasl.Plain}
	}
	return nil
}

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != User || password != Password {
			return smtp.ErrAuthFailed
		}
		s.needsLogin = false
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.needsLogin {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.attempts++
	if r := s.server.refusal; r != nil {
		return &smtp.SMTPError{Code: r.Code, EnhancedCode: r.EnhancedCode, Message: "<" + to + ">: no"}
	}
	s.to = to
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	l, err := read(r)
	if err != nil {
		return &smtp.SMTPError{Code: 554, Message: err.Error()}
	}
	l.From, l.To = s.from, s.to
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.messages = append(s.server.messages, l)
	close(s.server.arrived)
	s.server.arrived = make(chan struct{})
	return nil
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", "" }

// Logout implements smtp.Session.
func (*session) Logout() error { return nil }

// read parses an e-mail as a mail client would.
func read(r io.Reader) (Message, error) {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return Message{}, fmt.Errorf("read the e-mail: %w", err)
	}
	l := Message{Header: m.Header}
	if l.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return Message{}, fmt.Errorf("read the subject: %w", err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return Message{}, errors.New("the e-mail does not have two alternatives")
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return Message{}, fmt.Errorf("read a part: %w", err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			return Message{}, fmt.Errorf("read a part: %w", err)
		}
		plain := strings.ReplaceAll(string(text), "\r\n", "\n")
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			l.HTML = plain
		} else {
			l.Text = plain
		}
	}
}

// certificate creates a certificate for 127.0.0.1.
func certificate(tb testing.TB) (*tls.Config, *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, roots
}
