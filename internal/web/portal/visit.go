package portal

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

// Visit has the facts about one request: its id and client address, and once
// authorize has run, who is signed in.
type Visit struct {
	web.RequestLog

	SignedIn bool
	Who      access.Principal // of the signed-in account
	Account  registry.Account
	Supplies bool      // the account's organisation supplies lines
	Client   uuid.UUID // that onboarded the organisation; zero if staff did
}

type visitKey struct{}

// VisitOf returns the visit of a request.
func VisitOf(r *http.Request) *Visit {
	v, ok := r.Context().Value(visitKey{}).(*Visit)
	if !ok {
		panic("portal: the request did not pass the request log")
	}
	return v
}

func withVisit(r *http.Request, v *Visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// Right says who may open a page.
type Right uint8

// The rights, each with the visitors that have it.
const (
	Anyone        Right = iota // everybody, signed in or not
	SignedIn                   // everybody who is signed in
	OrgMember                  // the people of an organisation
	OrgAdmin                   // the admins of an organisation
	TelcoMember                // the people of an organisation that supplies lines
	TelcoAdmin                 // the admins of such an organisation
	Staff                      // the regulator's staff
	Decider                    // staff who decide: administrators and reviewers
	Administrator              // the administrators among the staff
)

// Has reports whether the visitor has a right.
func (v *Visit) Has(need Right) bool {
	if need == Anyone {
		return true
	}
	if !v.SignedIn {
		return false
	}
	switch need {
	case Anyone, SignedIn:
		return true
	case OrgMember:
		return v.Who.Entity != uuid.Nil
	case OrgAdmin:
		return v.Who.Entity != uuid.Nil && v.Who.Manages
	case TelcoMember:
		return v.Who.Entity != uuid.Nil && v.Supplies
	case TelcoAdmin:
		return v.Who.Entity != uuid.Nil && v.Supplies && v.Who.Manages
	case Staff:
		return v.Who.Role != ""
	case Decider:
		return v.Who.Role == access.Administrator || v.Who.Role == access.Reviewer
	case Administrator:
		return v.Who.Role == access.Administrator
	}
	return false
}

// PathID returns an id in the path. Only the canonical spelling is accepted, so
// that each page has one address; anything else is ErrNotFound.
func PathID(r *http.Request, name string) (uuid.UUID, error) {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, ErrNotFound
	}
	return id, nil
}

// IsCode reports whether err is a fault with that code.
func IsCode(err error, code fault.Code) bool { return err != nil && fault.CodeOf(err) == code }
