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

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/mail"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// LetterKind is what a letter is about. The words are stored in the queue; they
// are never changed.
type LetterKind string

// The kinds of letter.
const (
	Confirmation    LetterKind = "confirmation"
	Reset           LetterKind = "reset"
	Invitation      LetterKind = "invitation"
	PasswordChanged LetterKind = "password_changed"
	FactorSet       LetterKind = "factor_set"
	FactorRemoved   LetterKind = "factor_removed"
	GuardFound      LetterKind = "guard_found" // to administrators of the regulator
)

// Letter is a letter that is to be written: to whom and about what, and nothing
// that is secret.
type Letter struct {
	Kind    LetterKind
	Account uuid.UUID
}

// linkOf says which link a letter carries; "" for none.
var linkOf = map[LetterKind]linkKind{
	Confirmation: confirm, Reset: reset, Invitation: invite, PasswordChanged: "", FactorSet: "", FactorRemoved: "", GuardFound: "",
}

// staleAfter is how long a letter may wait before nobody expects it any more.
var staleAfter = map[LetterKind]time.Duration{
	Confirmation: 7 * 24 * time.Hour, Reset: time.Hour, Invitation: 7 * 24 * time.Hour,
	PasswordChanged: 24 * time.Hour, FactorSet: 24 * time.Hour, FactorRemoved: 24 * time.Hour, GuardFound: 24 * time.Hour,
}

// ErrNoMail reports that there is no server to which a letter could be given.
var ErrNoMail = errors.New("people: LINEPROOF_SMTP_URL is not set: letters wait until it is")

//go:embed letters
var letters embed.FS

var (
	texts = template.Must(template.ParseFS(letters, "letters/*.txt"))
	pages = htmltemplate.Must(htmltemplate.ParseFS(letters, "letters/*.html"))
)

// Deliver writes a letter, with a link that is made now, and hands it to the
// server. A letter that nobody expects any more, or that has lost its reader,
// is dropped without a word. It returns [mail.ErrRefused] when the server will
// never take it.
func (p *People) Deliver(ctx context.Context, l Letter, asked time.Time) error {
	if p.Now().Sub(asked) > staleAfter[l.Kind] {
		return nil
	}
	a, err := p.Registry.Account(ctx, p.Pool, l.Account)
	if errors.Is(err, registry.ErrNoAccount) {
		return nil
	}
	if err != nil {
		return err
	}
	if !l.suits(a) {
		return nil
	}
	if p.Mail == nil {
		return ErrNoMail
	}
	written, err := p.write(ctx, l, a)
	if err != nil {
		return err
	}
	return p.Mail.Send(ctx, written)
}

// suits reports whether the account is still one for which the letter makes
// sense.
func (l Letter) suits(a registry.Account) bool {
	switch l.Kind {
	case Confirmation:
		return a.Standing() && !a.Verified
	case Invitation:
		return a.Standing() && !a.Accepted
	case Reset:
		return a.Standing() && a.Accepted
	case PasswordChanged, FactorSet, FactorRemoved:
		return !a.Disabled
	case GuardFound:
		return a.Standing() && a.Role == string(access.Administrator)
	}
	return false
}

// TellAdministrators sends a letter to every administrator of the regulator, in
// the caller's transaction.
func (p *People) TellAdministrators(ctx context.Context, tx pg.Tx, kind LetterKind) error {
	administrators, err := db.New(tx).Administrators(ctx)
	if err != nil {
		return fmt.Errorf("people: find the administrators: %w", err)
	}
	for _, account := range administrators {
		if err := p.Post(ctx, tx, Letter{Kind: kind, Account: account}); err != nil {
			return err
		}
	}
	return nil
}

// page is what the templates know.
type page struct {
	Service, Name, Entity, Role, At string
	Link                            string
	Until                           string
}

func (p *People) write(ctx context.Context, l Letter, a registry.Account) (mail.Letter, error) {
	const moment = "2 January 2006, 15:04 UTC"
	data := page{Service: p.Issuer, Name: a.Name, Entity: a.EntityName, Role: a.Role, At: p.Now().UTC().Format(moment)}
	if kind := linkOf[l.Kind]; kind != "" {
		link, until, err := p.newLink(ctx, p.Pool, kind, a.ID)
		if err != nil {
			return mail.Letter{}, err
		}
		data.Link, data.Until = link.Reveal(), until.Format(moment)
	}
	var text, html bytes.Buffer
	if err := errors.Join(texts.ExecuteTemplate(&text, string(l.Kind)+".txt", data), pages.ExecuteTemplate(&html, string(l.Kind)+".html", data)); err != nil {
		return mail.Letter{}, fmt.Errorf("people: write a letter: %w", err)
	}
	// The first line of the text is the subject.
	subject, body, _ := strings.Cut(text.String(), "\n\n")
	return mail.Letter{To: a.Email, Subject: subject, Text: body, HTML: html.String()}, nil
}

// Link makes the link of an invitation, or of a new password, for an operator
// who hands it over by another way than e-mail.
func (p *People) Link(ctx context.Context, kind LetterKind, account uuid.UUID) (secret.Text, time.Time, error) {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return "", time.Time{}, err
	}
	l := Letter{Kind: kind, Account: account}
	if linkOf[kind] == "" || !l.suits(a) {
		return "", time.Time{}, registry.ErrNoAccount
	}
	return p.newLink(ctx, p.Pool, linkOf[kind], account)
}
