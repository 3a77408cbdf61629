package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// linkKind is the purpose of a link. The values are stored in the database.
type linkKind string

const (
	confirm linkKind = "confirm"
	reset   linkKind = "reset"
	invite  linkKind = "invite"
)

const linkToken secret.Prefix = "lp_lnk_"

// linkLifetime is how long a link works, and linkPath the page that it opens.
var (
	linkLifetime = map[linkKind]time.Duration{confirm: 7 * 24 * time.Hour, reset: 30 * time.Minute, invite: 72 * time.Hour}
	linkPath     = map[linkKind]string{confirm: "/portal/confirm", reset: "/portal/reset", invite: "/portal/invitation"}
)

// errLink rejects every link that does not work with the same message.
var errLink = fault.ErrInvalid.With(fault.Violation{
	Field: "token", Code: fault.NotAllowed, Message: "This link was already used, has expired or is wrong. Request a new one.",
})

// newLink creates a link for an account. The token is in the fragment of the URL,
// which browsers do not send: it appears in no log of a server or proxy.
func (p *People) newLink(ctx context.Context, tx pg.Tx, kind linkKind, account uuid.UUID) (secret.Text, time.Time, error) {
	token, now := secret.New(linkToken), p.now()
	expires := now.Add(linkLifetime[kind])
	err := db.New(tx).InsertLink(ctx, db.InsertLinkParams{
		ID: uuid.Must(uuid.NewV7()), AccountID: account, Kind: string(kind), Mac: p.Peppers.Sign(token.Reveal()), ExpiresAt: expires, CreatedAt: now,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("people: create a link: %w", err)
	}
	return secret.Text(p.PublicURL + linkPath[kind] + "#" + token.Reveal()), expires, nil
}

// linkNow is newLink in a transaction of its own.
func (p *People) linkNow(ctx context.Context, kind linkKind, account uuid.UUID) (link secret.Text, expires time.Time, err error) {
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		link, expires, err = p.newLink(ctx, tx, kind, account)
		return err
	})
	return link, expires, err
}

// ownerOf returns the account of a link that still works, or errLink.
func (p *People) ownerOf(ctx context.Context, kind linkKind, token string) (registry.Account, error) {
	link, err := db.New(p.Pool).LinkOwner(ctx, db.LinkOwnerParams{Macs: p.Peppers.Candidates(token), Kind: string(kind), Now: p.now()})
	if err == nil {
		err = linkSigned(ctx, p.Pool, db.LockLinkRow(link))
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.Account{}, errLink
	}
	if err != nil {
		return registry.Account{}, fmt.Errorf("people: find a link: %w", err)
	}
	a, err := p.Registry.Account(ctx, p.Pool, link.AccountID)
	if err == nil && !a.MayLogIn() {
		return registry.Account{}, errLink
	}
	return a, err
}

// useLink marks a link as used, and with it all links of its kind of the account.
func (p *People) useLink(ctx context.Context, tx pg.Tx, kind linkKind, token string, account uuid.UUID) error {
	q, now := db.New(tx), p.now()
	link, err := q.LockLink(ctx, db.LockLinkParams{Macs: p.Peppers.Candidates(token), Kind: string(kind), Now: now})
	if err == nil {
		err = linkSigned(ctx, tx, link)
	}
	if errors.Is(err, pgx.ErrNoRows) || err == nil && link.AccountID != account {
		return errLink // a concurrent request has used it
	}
	if err == nil {
		err = q.EndLinks(ctx, db.EndLinksParams{AccountID: account, Kind: string(kind), Now: &now})
	}
	if err != nil {
		return fmt.Errorf("people: use a link: %w", err)
	}
	return nil
}

// linkSigned returns pgx.ErrNoRows unless the row of a link is signed.
func linkSigned(ctx context.Context, from pg.DB, l db.LockLinkRow) error {
	return pg.Signed(ctx, from, nil, pg.Row{Table: "account_link", ID: l.ID, Sum: l.RowSum, MAC: l.RowMac})
}
