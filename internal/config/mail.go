package config

import (
	"net/mail"
	"net/url"
	"strings"
)

// checkMail checks where letters are handed over, whom they come from and where
// their links lead.
func (c *Config) checkMail(wrong *complaints) {
	if wrong.none("LINEPROOF_SMTP_URL") && c.SMTPURL != "" {
		u, err := url.Parse(c.SMTPURL.Reveal())
		if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
			wrong.about("LINEPROOF_SMTP_URL", "LINEPROOF_SMTP_URL is not the address of a mail server: set it to smtp://user:password@host:port, or to smtps://... where TLS is spoken from the start")
		}
		if c.MailFrom == "" {
			wrong.about("LINEPROOF_MAIL_FROM", "LINEPROOF_SMTP_URL needs LINEPROOF_MAIL_FROM: set it to the address from which letters come")
		}
		if c.PublicURL == "" {
			wrong.about("LINEPROOF_PUBLIC_URL", "LINEPROOF_SMTP_URL needs LINEPROOF_PUBLIC_URL: set it to the address that the links in letters begin with")
		}
	}
	if c.MailFrom != "" {
		if _, err := mail.ParseAddress(c.MailFrom); err != nil {
			wrong.about("LINEPROOF_MAIL_FROM", "LINEPROOF_MAIL_FROM is not an e-mail address: set it to one such as no-reply@regulator.example, with or without a name before it")
		}
	}
	if c.PublicURL == "" {
		return
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(c.PublicURL, "/") {
		wrong.about("LINEPROOF_PUBLIC_URL", "LINEPROOF_PUBLIC_URL is not an address: set it to one such as https://lineproof.regulator.example, without a slash at its end")
	}
}

// LinkBase is what the links in letters begin with: LINEPROOF_PUBLIC_URL or,
// on a machine for trying things out, the listener itself.
func (c *Config) LinkBase() string {
	switch {
	case c.PublicURL != "":
		return c.PublicURL
	case c.TLSCert != "":
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}
