package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
)

// maxJSON is far above any JSON request that we take.
const maxJSON = 16 << 10

// door checks the credential that a route asks for, then lets the handler
// serve, for as long as the route allows.
func (a *API) door(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r.Context(), rt)
		// The handler's deadline is enforced on reading the body, too: a body that
		// trickles in does not end with the context.
		deadline := time.Now().Add(rt.timeout)
		ctx, cancel := context.WithDeadline(r.Context(), deadline)
		defer cancel()
		_ = http.NewResponseController(w).SetReadDeadline(deadline)                       // not every writer can
		_ = http.NewResponseController(w).SetWriteDeadline(deadline.Add(5 * time.Second)) // time to say 503

		if len(rt.admits) > 0 {
			who, err := a.admit(ctx, rt, r)
			if err != nil {
				a.fail(w, r, err)
				return
			}
			ctx = access.WithPrincipal(ctx, who)
		}
		r = r.WithContext(ctx)
		if err := rt.serve(w, r); err != nil {
			a.fail(w, r, err)
		}
	})
}

func (a *API) admit(ctx context.Context, rt route, r *http.Request) (access.Principal, error) {
	bearer, ok := bearerOf(r)
	if !ok {
		return access.Principal{}, access.ErrUnauthenticated
	}
	who, err := a.Keeper.Admit(ctx, bearer)
	if err != nil {
		return access.Principal{}, err
	}
	if !slices.Contains(rt.admits, who.Kind) {
		return access.Principal{}, access.ErrUnauthenticated
	}
	if who.Kind == access.Client && !who.May(rt.scope) {
		return access.Principal{}, access.ErrPermission
	}
	return who, nil
}

// bearerOf returns the credential of the one Authorization header. The scheme's
// name is free of case, as everywhere in HTTP.
func bearerOf(r *http.Request) (string, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, credential, ok := strings.Cut(headers[0], " ")
	return credential, ok && strings.EqualFold(scheme, "Bearer")
}
