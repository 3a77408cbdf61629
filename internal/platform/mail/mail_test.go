package mail_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const sender = "Lineproof <no-reply@regulator.example>"

var letter = mail.Message{
	To: "ada@harmattan.example", Subject: "Für Ada: your account", Text: "Guten Tag,\nà bientôt.\n", HTML: "<p>Guten Tag, à bientôt.</p>\n",
}

func open(t *testing.T, s *mailtest.Server) *mail.Server {
	t.Helper()
	server, err := mail.Open(secret.Text(s.URL()), sender)
	if err != nil {
		t.Fatal(err)
	}
	server.Roots = s.Roots
	return server
}

// An e-mail arrives as it was written, in text and HTML, with every kind of TLS
// and login.
func TestEmailArrives(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) *mailtest.Server{
		"on this machine": mailtest.Start, "starttls": mailtest.StartTLS, "tls": mailtest.StartWithTLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if err := open(t, s).Send(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			got := s.Wait(t, letter.To, letter.Subject)
			if got.Text != letter.Text || got.HTML != letter.HTML || got.From != "no-reply@regulator.example" {
				t.Errorf("what arrived is %+v", got)
			}
			if got.Header.Get("Auto-Submitted") != "auto-generated" || got.Header.Get("Message-ID") == "" || got.Header.Get("Date") == "" {
				t.Errorf("headers are missing: %v", got.Header)
			}
		})
	}
}

// A server whose certificate is not trusted gets neither the e-mail nor the
// password.
func TestUntrustedServerGetsNothing(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) *mailtest.Server{"starttls": mailtest.StartTLS, "tls": mailtest.StartWithTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			server := open(t, s)
			server.Roots = nil
			if err := server.Send(t.Context(), letter); err == nil || errors.Is(err, mail.ErrRefused) {
				t.Errorf("Send = %v, want an error that is worth another try", err)
			}
			if s.Connections() != 0 {
				t.Error("the letter was offered all the same")
			}
		})
	}
}

// Nothing is sent unencrypted to another machine: a server without TLS is
// rejected.
func TestNothingIsSentInTheClear(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	// Leads to this machine, and is not known to.
	address := strings.Replace(s.URL(), "127.0.0.1", "0.0.0.0", 1)
	server, err := mail.Open(secret.Text(address), sender)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Send(t.Context(), letter); err == nil || s.Connections() != 0 {
		t.Errorf("Send = %v, and the server was asked %d times", err, s.Connections())
	}
}

// A permanent rejection is distinguished from a temporary one, and no error
// repeats an address.
func TestPermanentAndTemporaryRejectionsAreDistinguished(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t)
	server := open(t, s)
	for code, forGood := range map[int]bool{550: true, 450: false} {
		s.Refuse(code)
		err := server.Send(t.Context(), letter)
		if err == nil || errors.Is(err, mail.ErrRefused) != forGood {
			t.Errorf("%d: %v", code, err)
		}
		if err != nil && strings.Contains(err.Error(), "harmattan") {
			t.Errorf("%d: the error names the receiver: %v", code, err)
		}
	}
	s.Refuse(0)
	if err := server.Send(t.Context(), letter); err != nil {
		t.Errorf("after the trouble: %v", err)
	}
	if err := server.Send(t.Context(), mail.Message{To: "nobody@", Subject: "x"}); !errors.Is(err, mail.ErrRefused) {
		t.Errorf("to no address: %v", err)
	}
}

// The error of an unavailable server is temporary.
func TestUnavailableServerIsATemporaryError(t *testing.T) {
	t.Parallel()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	server, err := mail.Open(secret.Text("smtp://"+ln.Addr().String()), sender)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Send(t.Context(), letter); err == nil || errors.Is(err, mail.ErrRefused) {
		t.Errorf("Send = %v", err)
	}
}

// A wrong address of the server is rejected at start, without repeating its
// password.
func TestWrongAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "host:25", "http://host", "smtp://", "smtp://u:hush@host:0", "smtp://u:hush@host:99999", "smtp://u:hush@host/path", "smtp://u:hush@ho st"} {
		if _, err := mail.Open(secret.Text(address), sender); !errors.Is(err, mail.ErrURL) || strings.Contains(err.Error(), "hush") {
			t.Errorf("Open(%q) = %v", address, err)
		}
	}
	if _, err := mail.Open("smtp://host", "nobody"); !errors.Is(err, mail.ErrFrom) {
		t.Errorf("a sender without an address: %v", err)
	}
}
