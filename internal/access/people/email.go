package people

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"strings"
	"text/template"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// EmailKind is the kind of an e-mail. The values are stored in the queue and must
// never be renamed.
type EmailKind string

// The kinds of e-mail.
const (
	Confirmation    EmailKind = "confirmation"
	Reset           EmailKind = "reset"
	Invitation      EmailKind = "invitation"
	PasswordChanged EmailKind = "password_changed"
	FactorSet       EmailKind = "factor_set"
	FactorRemoved   EmailKind = "factor_removed"
	FactorLocked    EmailKind = "factor_locked"
	KeyExpires      EmailKind = "key_expires"    // to admins of an organisation
	GuardFound      EmailKind = "guard_found"    // to administrators of the regulator
	ClientRefused   EmailKind = "client_refused" // to administrators of the regulator
	LookupsSpent    EmailKind = "lookups_spent"  // to administrators of the regulator
	EntityAdded     EmailKind = "entity_added"   // to administrators of the regulator
	BreakGlass      EmailKind = "break_glass"    // to all staff

	WebhookFailing   EmailKind = "webhook_failing"   // to admins of an organisation
	WebhookDisabled  EmailKind = "webhook_disabled"  // to admins of an organisation
	WebhookRefused   EmailKind = "webhook_refused"   // to admins of an organisation
	ScanSlowed       EmailKind = "scan_slowed"       // to admins of an organisation
	ScanStopped      EmailKind = "scan_stopped"      // to admins of an organisation
	DocumentRejected EmailKind = "document_rejected" // to admins of an organisation
	PeopleChanged    EmailKind = "people_changed"    // to admins of an organisation
	CredentialAdded  EmailKind = "credential_added"  //nolint:gosec // a kind of e-mail, to admins of an organisation
	KeyLeaked        EmailKind = "key_leaked"        // to admins of an organisation
	CredentialEnded  EmailKind = "credential_ended"  //nolint:gosec // a kind of e-mail, to admins of an organisation
	WebhookPaused    EmailKind = "webhook_paused"    // to admins of an organisation
	FileHeld         EmailKind = "file_held"         // to admins of a telco, and to staff who decide
	ApprovalWaits    EmailKind = "approval_waits"    // to staff who decide
	RequestRejected  EmailKind = "request_rejected"  // to the member of staff who made the request
)

// Email is an e-mail to be sent: its recipient and its kind. It holds no secret,
// because it waits in a queue.
type Email struct {
	Kind    EmailKind
	Account uuid.UUID
	Message uuid.UUID // the message of the portal that says the same; zero for none
}

// linkOf is the kind of link in an e-mail; "" for none.
var linkOf = map[EmailKind]linkKind{
	Confirmation: confirm, Reset: reset, Invitation: invite, PasswordChanged: "", FactorSet: "", FactorRemoved: "", FactorLocked: "", KeyExpires: "", GuardFound: "", ClientRefused: "", LookupsSpent: "", EntityAdded: "", BreakGlass: "",
	WebhookFailing: "", WebhookDisabled: "", WebhookRefused: "", ScanSlowed: "", ScanStopped: "", DocumentRejected: "", PeopleChanged: "", CredentialAdded: "", KeyLeaked: "", CredentialEnded: "", WebhookPaused: "", FileHeld: "", ApprovalWaits: "", RequestRejected: "",
}

// staleAfter is how long an e-mail may wait before it is not worth sending.
var staleAfter = map[EmailKind]time.Duration{
	Confirmation: 7 * 24 * time.Hour, Reset: time.Hour, Invitation: 7 * 24 * time.Hour,
	PasswordChanged: 24 * time.Hour, FactorSet: 24 * time.Hour, FactorRemoved: 24 * time.Hour, FactorLocked: 7 * 24 * time.Hour, KeyExpires: 24 * time.Hour, GuardFound: 24 * time.Hour, ClientRefused: 24 * time.Hour, LookupsSpent: 24 * time.Hour, EntityAdded: 7 * 24 * time.Hour, BreakGlass: 24 * time.Hour,
	WebhookFailing: 24 * time.Hour, WebhookDisabled: 24 * time.Hour, WebhookRefused: 24 * time.Hour, ScanSlowed: 24 * time.Hour, ScanStopped: 24 * time.Hour,
	CredentialAdded: 7 * 24 * time.Hour, KeyLeaked: 7 * 24 * time.Hour, CredentialEnded: 7 * 24 * time.Hour, WebhookPaused: 7 * 24 * time.Hour,
	DocumentRejected: 7 * 24 * time.Hour, PeopleChanged: 7 * 24 * time.Hour, FileHeld: 24 * time.Hour, ApprovalWaits: 24 * time.Hour, RequestRejected: 7 * 24 * time.Hour,
}

// ErrNoMail reports that no SMTP server is configured.
var ErrNoMail = errors.New("people: LINEPROOF_SMTP_URL is not set: e-mails wait until it is")

// errNothingToSay reports an e-mail that has become pointless while it waited.
var errNothingToSay = errors.New("people: the e-mail has become pointless")

//go:embed letters
var templates embed.FS

var (
	textTemplates = template.Must(template.ParseFS(templates, "letters/*.txt"))
	htmlTemplates = htmltemplate.Must(htmltemplate.ParseFS(templates, "letters/*.html"))
)

// Deliver renders an e-mail, with a link that is created now, and sends it. An
// e-mail that has waited too long, or that no longer suits the account, is dropped
// without an error. It returns [mail.ErrRefused] if the server will never accept
// the e-mail.
func (p *People) Deliver(ctx context.Context, e Email, queuedAt time.Time) error {
	if p.Now().Sub(queuedAt) > staleAfter[e.Kind] {
		return nil
	}
	a, err := p.Registry.Account(ctx, p.Pool, e.Account)
	if errors.Is(err, registry.ErrNoAccount) {
		return nil
	}
	if err != nil {
		return err
	}
	if !e.suits(a) {
		return nil
	}
	if p.Mail == nil {
		return ErrNoMail
	}
	message, err := p.render(ctx, e, a)
	if errors.Is(err, errNothingToSay) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.Mail.Send(ctx, message)
}

// suits reports whether the e-mail still makes sense for the account.
func (e Email) suits(a registry.Account) bool {
	switch e.Kind {
	case Confirmation:
		return a.MayLogIn() && !a.Verified
	case Invitation:
		return a.MayLogIn() && !a.Accepted
	case Reset:
		return a.MayLogIn() && a.Accepted
	case PasswordChanged, FactorSet, FactorRemoved, FactorLocked:
		return !a.Disabled
	case KeyExpires, WebhookFailing, WebhookDisabled, WebhookRefused, ScanSlowed, ScanStopped, DocumentRejected, PeopleChanged, CredentialAdded, KeyLeaked, CredentialEnded, WebhookPaused:
		return a.MayLogIn() && a.Kind == registry.AdminAccount
	case FileHeld:
		return a.MayLogIn() && (a.Kind == registry.AdminAccount || decides(a))
	case ApprovalWaits:
		return a.MayLogIn() && decides(a)
	case GuardFound, ClientRefused, LookupsSpent, EntityAdded:
		return a.MayLogIn() && a.Role == string(access.Administrator)
	case BreakGlass, RequestRejected:
		return a.MayLogIn() && a.Kind == registry.StaffAccount
	}
	return false
}

// templateData are the fields of the templates.
type templateData struct {
	Service, Name, Entity, Role, At string
	Link                            string
	Until                           string
	Counts                          string // from when a second factor counts, if the link is not followed
	Keys                            []expiringKey
	About, Detail, Page             string // of the message of the portal
}

// expiringKey is an API key that expires soon.
type expiringKey struct{ Name, ExpiresAt string }

// emailTime is how e-mails write a time.
const emailTime = "2 January 2006, 15:04 UTC"

func (p *People) render(ctx context.Context, e Email, a registry.Account) (mail.Message, error) {
	letter := string(e.Kind)
	data := templateData{Service: p.Issuer, Name: a.Name, Entity: a.EntityName, Role: a.Role, At: p.Now().UTC().Format(emailTime)}
	kind := linkOf[e.Kind]
	if kind == invite {
		confirmed, err := p.Registry.AddressConfirmed(ctx, a)
		if err != nil {
			return mail.Message{}, err
		}
		if confirmed {
			kind, letter = "", "invitation_elsewhere"
		}
	}
	if e.Kind == FactorSet {
		has, err := standing(ctx, p.Pool, a.ID)
		if err != nil {
			return mail.Message{}, err
		}
		if until, waits := p.factorWaits(&has); waits {
			kind, data.Counts = confirm, until.Format(emailTime)
		}
	}
	if kind != "" {
		link, expires, err := p.linkNow(ctx, kind, a.ID)
		if err != nil {
			return mail.Message{}, err
		}
		data.Link, data.Until = link.Reveal(), expires.Format(emailTime)
	}
	if e.Message != uuid.Nil {
		m, err := message.Get(ctx, p.Pool, a.ID, e.Message)
		if errors.Is(err, pgx.ErrNoRows) {
			return mail.Message{}, errNothingToSay
		}
		if err != nil {
			return mail.Message{}, err
		}
		data.About, data.Detail, data.Page = m.About, m.Detail, p.PublicURL+m.Path
	}
	if e.Kind == KeyExpires {
		keys, err := p.Access.ExpiringKeys(ctx, a.Entity)
		if err != nil {
			return mail.Message{}, err
		}
		for _, k := range keys {
			data.Keys = append(data.Keys, expiringKey{k.Name, k.ExpiresAt.UTC().Format(emailTime)})
		}
		if len(data.Keys) == 0 { // they were rolled or revoked meanwhile
			return mail.Message{}, errNothingToSay
		}
	}
	var text, html bytes.Buffer
	if err := errors.Join(textTemplates.ExecuteTemplate(&text, letter+".txt", data), htmlTemplates.ExecuteTemplate(&html, letter+".html", data)); err != nil {
		return mail.Message{}, fmt.Errorf("people: render an e-mail: %w", err)
	}
	// The first line of the text is the subject.
	subject, body, _ := strings.Cut(text.String(), "\n\n")
	return mail.Message{To: a.Email, Subject: subject, Text: body, HTML: html.String()}, nil
}

// Link creates the link of an invitation for an operator who passes it on by other
// means than e-mail.
func (p *People) Link(ctx context.Context, kind EmailKind, account uuid.UUID) (secret.Text, time.Time, error) {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return "", time.Time{}, err
	}
	e := Email{Kind: kind, Account: account}
	if linkOf[kind] == "" || !e.suits(a) {
		return "", time.Time{}, registry.ErrNoAccount
	}
	return p.linkNow(ctx, linkOf[kind], account)
}
