// Package mail hands letters to an SMTP server.
//
// It promises that a letter goes out over TLS, or to this machine and no other,
// and that no error repeats what the server said: servers like to repeat the
// address, and errors end up in logs and in the table of jobs.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/lineproof/lineproof/internal/secret"
)

// patience is how long a server may take over one letter. Some are slow on
// purpose.
const patience = 30 * time.Second

var (
	// ErrRefused reports a letter that the server will never take, such as one to
	// a mailbox that does not exist. Trying again makes no sense.
	ErrRefused = errors.New("mail: the server refuses the letter for good")

	// ErrURL reports an address of a server that makes no sense. It does not
	// repeat it, because the password is part of it.
	ErrURL = errors.New("mail: the server's address must have the form smtp://user:password@host:port, or smtps:// where TLS is spoken from the start")

	// ErrFrom reports a sender that is no e-mail address.
	ErrFrom = errors.New("mail: the sender must be an e-mail address, with or without a name: Lineproof <no-reply@regulator.example>")
)

// Letter is one message to one person, in text and in HTML.
type Letter struct {
	To, Subject, Text, HTML string
}

// Server is an SMTP server that takes letters from us.
type Server struct {
	// Roots are those whom we believe about the server's certificate; nil means
	// those of the machine.
	Roots *x509.CertPool

	host, user string
	port       int
	password   secret.Text
	tlsFirst   bool // TLS from the start; else STARTTLS
	nearby     bool // on this machine, where there may be no TLS
	from       string
}

// Open returns the server at an address such as smtp://user:password@host:587,
// which takes letters from the given sender. Nothing is sent yet.
func Open(address secret.Text, from string) (*Server, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, ErrURL
	}
	s := &Server{host: u.Hostname(), port: 587, user: u.User.Username(), tlsFirst: u.Scheme == "smtps", from: from}
	if s.tlsFirst {
		s.port = 465
	}
	if u.Port() != "" {
		if s.port, err = strconv.Atoi(u.Port()); err != nil || s.port < 1 || s.port > 65535 {
			return nil, ErrURL
		}
	}
	if password, ok := u.User.Password(); ok {
		s.password = secret.Text(password)
	}
	if _, err := netmail.ParseAddress(from); err != nil {
		return nil, ErrFrom
	}
	ip, err := netip.ParseAddr(s.host)
	s.nearby = s.host == "localhost" || err == nil && ip.Unmap().IsLoopback()
	return s, nil
}

// Send hands over one letter. It returns ErrRefused when the server will never
// take it; every other error is worth another try later.
func (s *Server) Send(ctx context.Context, l Letter) error {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(m.From(s.from), m.To(l.To)); err != nil {
		return ErrRefused // no server would take such an address, and the error repeats it
	}
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageID()
	// Nobody is to answer a machine, least of all another one.
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	c, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := c.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return plain(err)
	}
	// A letter that was taken is not sent again because of a clumsy farewell.
	defer func() { _ = c.CloseWithSMTPClient(conn) }()
	return plain(c.SendWithSMTPClient(conn, m))
}

func (s *Server) client() (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(patience),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}),
	}
	switch {
	case s.tlsFirst:
		options = append(options, gomail.WithSSL())
	case s.nearby:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password.Reveal()))
	}
	c, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, errors.New("mail: LINEPROOF_SMTP_URL cannot be used") // the library would name what is in it
	}
	return c, nil
}

// plain says what went wrong without the server's words.
func plain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		if e.ErrorCode() >= 500 && !e.IsTemp() {
			return fmt.Errorf("%w (code %d)", ErrRefused, e.ErrorCode())
		}
		return fmt.Errorf("mail: the server does not take the letter now (code %d)", e.ErrorCode())
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("mail: reach the server: %w", e)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errors.New("mail: the server took too long")
	}
	return errors.New("mail: the server and we do not come together; look at its TLS certificate, and at user name and password in LINEPROOF_SMTP_URL")
}
