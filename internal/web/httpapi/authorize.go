package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

// maxJSON is far above the size of nearly all JSON requests.
const maxJSON = 16 << 10

// authorize checks the credential that a route needs and the length of the body, then
// calls the handler, for as long as the route's timeout allows.
func (a *API) authorize(rt route, limit bodyLimit) http.Handler {
	name, verifies := rt.name(), rt.verifies()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := logOf(r.Context())
		l.SetRoute(name)
		l.verifies = verifies
		if rt.timeout > 0 {
			ctx, cancel := web.WithTimeout(r.Context(), w, rt.timeout)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if err := a.checkAddress(rt, r); err != nil {
			a.fail(w, r, err)
			return
		}
		if len(rt.admits) > 0 {
			who, err := a.authenticate(r.Context(), rt, r)
			if err == nil {
				l.who = &who
			}
			if err = a.withinLimits(w, r, &who, err); err == nil {
				err = a.enter(&who)
			}
			if err != nil {
				if verifies {
					err = a.orStopped(&who, err)
				}
				a.fail(w, r, err)
				return
			}
			defer a.leave(&who)
			if err := a.checkProof(r.Context(), rt, &who); err != nil {
				a.fail(w, r, err)
				return
			}
		}
		err := limit.limitBody(w, r)
		if err == nil {
			err = rt.serve(w, r)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	})
}

// authenticate returns the caller, if its credential opens the route.
func (a *API) authenticate(ctx context.Context, rt route, r *http.Request) (access.Principal, error) {
	bearer, ok := bearerOf(r)
	if !ok {
		return access.Principal{}, rt.unauthenticated(errors.New("no bearer credential"))
	}
	who, err := a.Access.Authenticate(ctx, bearer, callerAddr(ctx))
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.Unauthenticated {
		return access.Principal{}, rt.unauthenticated(f.Err)
	}
	if err != nil {
		return access.Principal{}, err
	}
	if !slices.Contains(rt.admits, who.Kind) {
		return access.Principal{}, rt.unauthenticated(errors.New("another kind of credential"))
	}
	if who.Kind == access.Client && !slices.ContainsFunc(rt.scopes, who.HasScope) {
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

// opensLimited are the routes for a session whose account has to enable
// two-factor authentication first.
var opensLimited = map[string]bool{
	"POST " + logoutPath:        true,
	"POST " + provePath:         true,
	"POST " + factorPath:        true,
	"POST " + factorConfirmPath: true,
}

var errFactorFirst = fault.New(fault.PermissionDenied, "Enable two-factor authentication first: start with POST /api/regulator/v1/second-factor, then send a code from your app to POST /api/regulator/v1/second-factor/confirm. After that this session can do everything that your role allows.")

var errProofRequired = fault.New(fault.PasswordRequired, "This action needs the password again, because it was last entered more than 5 minutes ago. Send password, and otp if the account has two-factor authentication, to POST "+provePath+", then repeat this request.")

// checkProof returns an error when the action needs two-factor authentication, which the
// account of the session lacks, or the password of the person again. A session has that for
// some minutes from its login on; a program has none.
func (a *API) checkProof(ctx context.Context, rt route, who *access.Principal) error {
	if who.Kind != access.Session {
		return nil
	}
	if err := a.People.CheckFactor(ctx, who.Account, rt.action); err != nil {
		return err
	}
	if !rt.action.NeedsPassword() {
		return nil
	}
	proved, err := a.Access.IsProved(ctx, who.ID)
	if err == nil && !proved {
		err = errProofRequired
	}
	return err
}

// takes names each kind of credential, and where to get it.
var takes = map[access.Kind]string{
	access.Nobody:  "no credential",
	access.Portal:  "a session of the portal", // of no operation
	access.Client:  "an access token (lp_tok_…) from POST " + tokenPath,
	access.Session: "a session (lp_ses_…) from POST " + loginPath,
	access.APIKey:  "an API key (lp_live_… or lp_test_…)",
}

// unauthenticated is a route's only response to every credential that does not
// open it. It says which kinds would; why this one does not is for the log.
func (rt route) unauthenticated(reason error) error {
	kinds := make([]string, len(rt.admits))
	for i, k := range rt.admits {
		kinds[i] = takes[k]
	}
	return fault.New(fault.Unauthenticated, "Send a valid credential in the Authorization header, as: Bearer <credential>. This operation takes "+
		strings.Join(kinds, ", or ")+".").Because(reason)
}

// bearerOf returns the credential of the one Authorization header. The scheme is
// not case-sensitive, as in all of HTTP.
func bearerOf(r *http.Request) (string, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, credential, ok := strings.Cut(headers[0], " ")
	return credential, ok && strings.EqualFold(scheme, "Bearer")
}
