package config

import (
	"net/mail"
	"net/url"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/peer"
)

// checkMail checks the mail server, the sender and the address of the links in
// e-mails.
func (c *Config) checkMail(found *problems) {
	if found.none("LINEPROOF_SMTP_URL") && c.SMTPURL != "" {
		u, err := url.Parse(c.SMTPURL.Reveal())
		if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
			found.add("LINEPROOF_SMTP_URL", "LINEPROOF_SMTP_URL is not the address of a mail server: set it to smtp://user:password@host:port, or to smtps://... for TLS from the start")
		}
		if c.MailFrom == "" {
			found.add("LINEPROOF_MAIL_FROM", "LINEPROOF_SMTP_URL needs LINEPROOF_MAIL_FROM: set it to the sender of the e-mails")
		}
		if c.PublicURL == "" {
			found.add("LINEPROOF_PUBLIC_URL", "LINEPROOF_SMTP_URL needs LINEPROOF_PUBLIC_URL: set it to the address that the links in e-mails start with")
		}
	}
	if c.MailFrom != "" {
		if _, err := mail.ParseAddress(c.MailFrom); err != nil {
			found.add("LINEPROOF_MAIL_FROM", "LINEPROOF_MAIL_FROM is not an e-mail address: set it to one such as no-reply@regulator.example, with or without a name before it")
		}
	}
	if c.PublicURL == "" {
		return
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(c.PublicURL, "/") {
		found.add("LINEPROOF_PUBLIC_URL", "LINEPROOF_PUBLIC_URL is not an address: set it to one such as https://lineproof.regulator.example, without a slash at its end")
	} else if peer.CheckHTTP(c.PublicURL) != nil {
		found.add("LINEPROOF_PUBLIC_URL", "LINEPROOF_PUBLIC_URL is not https: people and programs would send passwords and keys in plain text; begin it with https://")
	}
}

// LinkBase is the start of the links in e-mails: LINEPROOF_PUBLIC_URL or, on a
// machine for tests, the listener itself.
func (c *Config) LinkBase() string {
	switch {
	case c.PublicURL != "":
		return c.PublicURL
	case c.TLSCert != "":
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}
