package portal

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/registry"
)

// visit is what is known of one request: its id, where it comes from, and, once
// the door has let somebody in, who that is.
type visit struct {
	id   uuid.UUID
	from netip.Addr

	mu     sync.Mutex
	route  string
	attrs  []slog.Attr
	signed bool
	who    access.Principal // of whoever is signed in
	person registry.Account
	telco  bool      // the person's entity supplies lines
	client uuid.UUID // that brought the entity in; zero where staff did
}

type visitKey struct{}

// visitOf returns the visit of a request.
func visitOf(r *http.Request) *visit {
	v, ok := r.Context().Value(visitKey{}).(*visit)
	if !ok {
		panic("portal: a request that was not observed")
	}
	return v
}

func withVisit(r *http.Request, v *visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// note remembers which route serves the request.
func note(r *http.Request, name string) {
	v := visitOf(r)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.route = name
}

// add puts attributes into the request's log line.
func add(r *http.Request, attrs ...slog.Attr) {
	v := visitOf(r)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.attrs = append(v.attrs, attrs...)
}

// right is who may open a page.
type right uint8

const (
	anyone        right = iota // no session is asked for
	person                     // whoever is signed in
	entity                     // whoever works for an organisation
	manager                    // who looks after an organisation
	operator                   // whoever works for an organisation that supplies lines
	staff                      // the regulator's staff
	decider                    // staff who decide: administrators and reviewers
	administrator              // staff who look after the rest
)

// has reports whether the visitor has a right.
func (v *visit) has(need right) bool {
	if need == anyone {
		return true
	}
	if !v.signed {
		return false
	}
	switch need {
	case anyone, person:
		return true
	case entity:
		return v.who.Entity != uuid.Nil
	case manager:
		return v.who.Entity != uuid.Nil && v.who.Manages
	case operator:
		return v.who.Entity != uuid.Nil && v.telco
	case staff:
		return v.who.Role != ""
	case decider:
		return v.who.Role == access.Administrator || v.who.Role == access.Reviewer
	case administrator:
		return v.who.Role == access.Administrator
	}
	return false
}

// idOf returns an id in the path, in the one spelling in which we give it, or
// that there is no such page.
func idOf(r *http.Request, name string) (uuid.UUID, error) {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, errNoPage
	}
	return id, nil
}

// isCode reports whether err is a fault of that code.
func isCode(err error, code fault.Code) bool { return err != nil && fault.CodeOf(err) == code }
