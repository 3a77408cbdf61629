package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
)

// maxJSON is far above any JSON request that we take.
const maxJSON = 16 << 10

// door checks the credential that a route asks for, then lets the handler
// serve, for as long as the route allows.
func (a *API) door(rt route) http.Handler {
	name, quiet := rt.name(), rt.quiet()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r.Context(), name, quiet)
		if rt.timeout > 0 {
			ctx, cancel := limit(r.Context(), w, rt.timeout)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if err := a.checkAddress(rt, r); err != nil {
			a.fail(w, r, err)
			return
		}
		if len(rt.admits) > 0 {
			who, err := a.admit(r.Context(), rt, r)
			if err == nil {
				notesOf(r.Context()).who = &who
			}
			if err = a.withinLimits(w, r, &who, err); err != nil {
				a.fail(w, r, err)
				return
			}
		}
		if err := rt.serve(w, r); err != nil {
			a.fail(w, r, err)
		}
	})
}

// limit bounds how long a handler may take. The deadline is enforced on reading
// the body, too: a body that trickles in does not end with the context. The
// body's time is up first, so that a slow caller is told from a slow service.
func limit(ctx context.Context, w http.ResponseWriter, d time.Duration) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(d)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(deadline)                       // not every writer can
	_ = control.SetWriteDeadline(deadline.Add(5 * time.Second)) // time to say 503
	return context.WithDeadline(ctx, deadline.Add(100*time.Millisecond))
}

func (a *API) admit(ctx context.Context, rt route, r *http.Request) (access.Principal, error) {
	bearer, ok := bearerOf(r)
	if !ok {
		return access.Principal{}, rt.unauthenticated(errors.New("no bearer credential"))
	}
	who, err := a.Keeper.Admit(ctx, bearer, callerAddr(ctx))
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.Unauthenticated {
		return access.Principal{}, rt.unauthenticated(f.Err)
	}
	if err != nil {
		return access.Principal{}, err
	}
	if !slices.Contains(rt.admits, who.Kind) {
		return access.Principal{}, rt.unauthenticated(errors.New("another kind of credential"))
	}
	if who.Kind == access.Client && !slices.ContainsFunc(rt.scopes, who.May) {
		return access.Principal{}, access.ErrPermission
	}
	if who.Limited && !opensLimited[rt.name()] {
		return access.Principal{}, errFactorFirst
	}
	if who.Kind == access.Session && len(rt.roles) > 0 && !slices.Contains(rt.roles, who.Role) {
		return access.Principal{}, access.ErrPermission
	}
	return who, nil
}

// opensLimited are the routes that are open to somebody who has to set up a
// second factor first.
var opensLimited = map[string]bool{
	"POST " + logoutPath:        true,
	"POST " + factorPath:        true,
	"POST " + factorConfirmPath: true,
}

var errFactorFirst = fault.New(fault.PermissionDenied, "Set up a second factor first: POST /api/regulator/v1/second-factor begins it, and …/second-factor/confirm with a code from your app ends it. Then this session opens everything that your role allows.")

// takes says where to get each kind of credential.
var takes = map[access.Kind]string{
	access.Nobody:  "no credential",
	access.Client:  "an access token (lp_tok_…) from POST " + tokenPath,
	access.Session: "a session (lp_ses_…) from POST " + loginPath,
	access.APIKey:  "an API key (lp_live_… or lp_test_…)",
}

// unauthenticated is the one answer of a route to every credential that does
// not open it. It says what would; why this one does not is for the log.
func (rt route) unauthenticated(reason error) error {
	kinds := make([]string, len(rt.admits))
	for i, k := range rt.admits {
		kinds[i] = takes[k]
	}
	return fault.New(fault.Unauthenticated, "Send a valid credential in the Authorization header, as: Bearer <credential>. This operation takes "+
		strings.Join(kinds, ", or ")+".").Because(reason)
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
