package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	_, err := tx.Exec(ctx, `INSERT INTO account_link (id, account_id, kind, mac, expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		uuid.Must(uuid.NewV7()), account, kind, p.Peppers.Sign(secret.ForLinks, token.Reveal()), expires, now)
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
	if !secret.Is(linkToken, token) {
		return registry.Account{}, errLink
	}
	owner, err := p.linkOwner(ctx, p.Pool, linkSQL, kind, token)
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.Account{}, errLink
	}
	if err != nil {
		return registry.Account{}, fmt.Errorf("people: find a link: %w", err)
	}
	a, err := p.Registry.Account(ctx, p.Pool, owner)
	if err == nil && !a.MayLogIn() {
		return registry.Account{}, errLink
	}
	return a, err
}

// useLink marks a link as used, and with it all links of its kind of the account.
func (p *People) useLink(ctx context.Context, tx pg.Tx, kind linkKind, token string, account uuid.UUID) error {
	if !secret.Is(linkToken, token) {
		return errLink
	}
	owner, err := p.linkOwner(ctx, tx, linkSQL+` FOR UPDATE`, kind, token)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && owner != account {
		return errLink // a concurrent request has used it
	}
	if err == nil {
		err = p.endLinks(ctx, tx, account, kind)
	}
	return fault.Wrap(err, "people: use a link")
}

const linkSQL = `SELECT id, account_id, row_sum, row_mac FROM account_link WHERE mac = ANY($1::bytea[]) AND kind = $2 AND used_at IS NULL AND expires_at > $3`

// linkOwner returns the account of a link that still works and is signed, or pgx.ErrNoRows.
func (p *People) linkOwner(ctx context.Context, from pg.DB, sql string, kind linkKind, token string) (owner uuid.UUID, err error) {
	link := pg.Row{Table: "account_link"}
	err = from.QueryRow(ctx, sql, p.Peppers.Candidates(secret.ForLinks, token), kind, p.now()).Scan(&link.ID, &owner, &link.Sum, &link.MAC)
	return owner, pg.Signed(ctx, from, err, link)
}

// endLinks ends the unused links of an account, or those of one kind.
func (p *People) endLinks(ctx context.Context, tx pg.Tx, account uuid.UUID, kind linkKind) error {
	_, err := tx.Exec(ctx, `UPDATE account_link SET used_at = $2 WHERE account_id = $1 AND used_at IS NULL AND (kind = $3 OR $3 = '')`, account, p.now(), kind)
	return err
}
