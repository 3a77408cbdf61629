// Package mail sends e-mails through an SMTP server.
//
// It guarantees that an e-mail is sent over TLS, or to this machine and no other, and
// that no error repeats the text of the server: servers often repeat the address, and
// errors are stored in logs and in the table of jobs.
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

	"github.com/lineproof/lineproof/internal/values/secret"
)

// timeout bounds the delivery of one e-mail. Some servers are slow on purpose.
const timeout = 30 * time.Second

var (
	// ErrRefused reports an e-mail that the server will never accept, such as one to a
	// mailbox that does not exist. A retry makes no sense.
	ErrRefused = errors.New("mail: the server permanently rejects the e-mail")

	// ErrURL reports an invalid address of a server. It does not repeat the address,
	// because the password is part of it.
	ErrURL = errors.New("mail: the server's address must have the form smtp://user:password@host:port, or smtps:// for implicit TLS")

	// ErrFrom reports a sender that is not an e-mail address.
	ErrFrom = errors.New("mail: the sender must be an e-mail address, with or without a name: Lineproof <no-reply@regulator.example>")
)

// Message is one message to one person, in text and in HTML.
type Message struct {
	To, Subject, Text, HTML string
}

// Server is an SMTP server that accepts e-mails from us.
type Server struct {
	// Roots are the certificate authorities to trust; nil means those of the machine.
	Roots *x509.CertPool

	host, user  string
	port        int
	password    secret.Text
	implicitTLS bool // TLS from the start; else STARTTLS
	local       bool // on this machine, where there may be no TLS
	from        string
}

// Open returns the server at an address such as smtp://user:password@host:587, for
// e-mails from the given sender. It does not connect.
func Open(address secret.Text, from string) (*Server, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, ErrURL
	}
	s := &Server{host: u.Hostname(), port: 587, user: u.User.Username(), implicitTLS: u.Scheme == "smtps", from: from}
	if s.implicitTLS {
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
	s.local = s.host == "localhost" || err == nil && ip.Unmap().IsLoopback()
	return s, nil
}

// Send sends one e-mail. It returns ErrRefused if the server will never accept it;
// every other error is worth a retry.
func (s *Server) Send(ctx context.Context, message Message) error {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(m.From(s.from), m.To(message.To)); err != nil {
		return ErrRefused // no server accepts such an address, and the error would repeat it
	}
	m.Subject(message.Subject)
	m.SetDate()
	m.SetMessageID()
	// RFC 3834: keeps automatic responders from replying.
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(gomail.TypeTextPlain, message.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, message.HTML)
	c, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := c.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return withoutServerText(err)
	}
	// An accepted e-mail must not be sent again because closing the connection failed.
	defer func() { _ = c.CloseWithSMTPClient(conn) }()
	return withoutServerText(c.SendWithSMTPClient(conn, m))
}

func (s *Server) client() (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(timeout),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}),
	}
	switch {
	case s.implicitTLS:
		options = append(options, gomail.WithSSL())
	case s.local:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password.Reveal()))
	}
	c, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, errors.New("mail: LINEPROOF_SMTP_URL cannot be used") // the error of the library would contain it
	}
	return c, nil
}

// withoutServerText returns an error without the text of the server.
func withoutServerText(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		if e.ErrorCode() >= 500 && !e.IsTemp() {
			return fmt.Errorf("%w (code %d)", ErrRefused, e.ErrorCode())
		}
		return fmt.Errorf("mail: the server does not accept the e-mail now (code %d)", e.ErrorCode())
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("mail: reach the server: %w", e)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errors.New("mail: the server took too long")
	}
	return errors.New("mail: no session with the server; check its TLS certificate, and the user name and password in LINEPROOF_SMTP_URL")
}
