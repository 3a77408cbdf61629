package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// NoticeKind is the kind of event that a credential had.
type NoticeKind uint8

// The kinds of notice.
const (
	CredentialAdded NoticeKind = iota // a live key or a client secret exists that did not before
	KeyLeaked                         // somebody of the organisation says so
	CredentialEnded                   // a live key was revoked
)

// Notice is a notice to the admins of an entity about its credentials.
type Notice struct {
	Kind   NoticeKind
	Entity uuid.UUID
	About  string // the credential by its name and preview, never its text
	Path   string // of the page of the portal where it can be ended
	By     audit.Actor
}

func (s *Service) notify(ctx context.Context, tx pg.Tx, n Notice) error {
	if s.Notify == nil {
		return nil
	}
	return s.Notify(ctx, tx, n)
}

func keyText(mode, name, preview string) string {
	return "the " + mode + " API key “" + name + "” (" + preview + ")"
}

func keyPath(id uuid.UUID) string { return "/portal/keys/" + id.String() }
