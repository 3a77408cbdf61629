// Package message stores the messages that a person finds in the portal: about held
// files, rejected documents, waiting approvals, expiring keys and alerts.
//
// What it guarantees:
//
//   - A message is stored in the transaction of the event that it reports, or by a job
//     that finds within a minute what waits, once for each person.
//   - A person reads and changes only the messages of the own account.
//   - Whoever mutes a kind gets no e-mail of it; the messages themselves stay.
//   - A message is deleted after 90 days. It never has a phone number or a secret.
package message

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Message is a message to one person.
type Message struct {
	ID      uuid.UUID
	Account uuid.UUID
	Kind    string // of the e-mail that says the same
	Content
	CreatedAt time.Time
	ReadAt    time.Time // zero until it is read
}

// Content is the text of a message.
type Content struct {
	About  string // the name of an organisation, a file, a document; "" for none
	Detail string // one sentence more; "" for none
	Path   string // the page of the portal where the person can act

	// Ref is what a job found that looks again and again: nobody is told of it twice. Zero
	// for a message of an event.
	Ref uuid.UUID
}

// retention is how long a message is kept.
const retention = 90 * 24 * time.Hour

// The longest texts that are stored; longer ones are cut.
const (
	maxAbout  = 300
	maxDetail = 500
)

// Add stores a message to each account, in the caller's transaction. It returns the
// messages of those accounts that want an e-mail too.
func Add(ctx context.Context, tx pg.Tx, kind string, c Content, now time.Time, accounts ...uuid.UUID) ([]Message, error) {
	all := make([]Message, len(accounts))
	ids := make([]uuid.UUID, len(accounts))
	c.About, c.Detail = cut(c.About, maxAbout), cut(c.Detail, maxDetail)
	for i, account := range accounts {
		ids[i] = uuid.Must(uuid.NewV7())
		all[i] = Message{ID: ids[i], Account: account, Kind: kind, Content: c, CreatedAt: now}
	}
	wanted, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `WITH stored AS (
			INSERT INTO message (id, account_id, kind, about, detail, path, created_at, ref)
			SELECT t.id, t.account, $3, $4, $5, $6, $7, $8 FROM unnest($1::uuid[], $2::uuid[]) AS t (id, account)
			ON CONFLICT (account_id, kind, ref) WHERE ref IS NOT NULL DO NOTHING RETURNING id, account_id)
		SELECT s.id FROM stored s WHERE NOT EXISTS (SELECT FROM message_mute u WHERE u.account_id = s.account_id AND u.kind = $3)`,
		ids, accounts, kind, c.About, c.Detail, c.Path, now, pg.ID(c.Ref))
	if err != nil {
		return nil, fmt.Errorf("message: store: %w", err)
	}
	return slices.DeleteFunc(all, func(m Message) bool { return !slices.Contains(wanted, m.ID) }), nil
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// Get returns a message of an account. The error is [pgx.ErrNoRows] if there is none.
func Get(ctx context.Context, from pg.DB, account, id uuid.UUID) (Message, error) {
	list, err := query(ctx, from, `WHERE account_id = $1 AND id = $2`, account, id)
	if err == nil && len(list) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return Message{}, err
	}
	return list[0], nil
}

// List returns messages of an account, newest first: those before a message, or the
// newest if that is zero.
func List(ctx context.Context, from pg.DB, account, before uuid.UUID, limit int) ([]Message, error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	return query(ctx, from, `WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, account, before, limit)
}

func query(ctx context.Context, from pg.DB, where string, args ...any) ([]Message, error) {
	list, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (m Message, err error) {
		var read *time.Time
		err = row.Scan(&m.ID, &m.Account, &m.Kind, &m.About, &m.Detail, &m.Path, &m.CreatedAt, &read)
		if read != nil {
			m.ReadAt = *read
		}
		return m, err
	}, `SELECT id, account_id, kind, about, detail, path, created_at, read_at FROM message `+where, args...)
	return list, fault.Wrap(err, "message: read")
}

// MaxUnread is the highest count of [Unread]: nobody needs to know more.
const MaxUnread = 100

// Unread counts the unread messages of an account, up to MaxUnread.
func Unread(ctx context.Context, from pg.DB, account uuid.UUID) (n int, err error) {
	err = from.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM message WHERE account_id = $1 AND read_at IS NULL LIMIT $2) AS unread`, account, MaxUnread).Scan(&n)
	return n, fault.Wrap(err, "message: count the unread")
}

// MarkRead marks one message of an account as read, or all of them if id is zero.
func MarkRead(ctx context.Context, to pg.DB, account, id uuid.UUID, now time.Time) error {
	_, err := to.Exec(ctx, `UPDATE message SET read_at = $3 WHERE account_id = $1 AND ($2::uuid IS NULL OR id = $2) AND read_at IS NULL`, account, pg.ID(id), now)
	return fault.Wrap(err, "message: mark as read")
}

// Muted returns the kinds of which an account wants no e-mail.
func Muted(ctx context.Context, from pg.DB, account uuid.UUID) ([]string, error) {
	kinds, err := pg.Collect(ctx, from, pgx.RowTo[string], `SELECT kind FROM message_mute WHERE account_id = $1`, account)
	return kinds, fault.Wrap(err, "message: read the muted kinds")
}

// Mute stores of which kinds an account wants no e-mail, in place of those before.
func Mute(ctx context.Context, tx pg.Tx, account uuid.UUID, kinds []string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM message_mute WHERE account_id = $1 AND NOT kind = ANY($2)`, account, kinds); err != nil {
		return fmt.Errorf("message: mute: %w", err)
	}
	_, err := tx.Exec(ctx, `INSERT INTO message_mute (account_id, kind) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`, account, kinds)
	return fault.Wrap(err, "message: mute")
}

// DeleteOld deletes messages that are older than 90 days, and returns how many.
func DeleteOld(ctx context.Context, db pg.DB, now time.Time) (int64, error) {
	n, err := pg.InBatches(func() (int64, error) {
		tag, err := db.Exec(ctx, `DELETE FROM message WHERE id IN (SELECT id FROM message WHERE created_at < $1 LIMIT 1000)`, now.Add(-retention))
		return tag.RowsAffected(), err
	})
	return n, fault.Wrap(err, "message: delete old ones")
}
