package portal

import (
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	// maxFormBytes is far above any form without a file.
	maxFormBytes = 64 << 10
	pageTimeout  = 10 * time.Second
	// UploadTimeout is the time for a request that sends or receives a file.
	UploadTimeout = 5 * time.Minute
	// exportTimeout is the time for an export, which gives way to everything else.
	exportTimeout = 2 * time.Hour
)

var (
	errAddressLimit = fault.New(fault.TooManyRequests, "Too many requests came from this network. Wait a minute, then try again.")
	errSessionLimit = fault.New(fault.TooManyRequests, "You open pages faster than the portal allows. Wait a few seconds, then try again.")
	errConcurrent   = fault.New(fault.TooManyRequests, "Other pages or downloads of yours are still in progress. Wait for one of them, then try again.")
)

// authorize calls the route's handler if the visitor has the right for it. A
// visitor without a session is sent to sign in; for one without the right the
// page does not exist.
func (p *Portal) authorize(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := VisitOf(r)
		v.SetRoute(rt.name())
		timeout := pageTimeout
		switch {
		case rt.Export:
			timeout = exportTimeout
		case rt.Upload:
			timeout = UploadTimeout
		}
		ctx, cancel := web.WithTimeout(r.Context(), w, timeout)
		defer cancel()
		r = r.WithContext(ctx)
		if !rt.Upload {
			r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
		}
		if err := p.authenticate(r); err != nil {
			p.showError(w, r, err)
			return
		}
		switch {
		case !v.SignedIn && p.overAddressLimit(r):
			p.showError(w, r, errAddressLimit)
		case v.SignedIn && p.overSessionLimit(r):
			p.showError(w, r, errSessionLimit)
		case rt.Right != Anyone && !v.SignedIn:
			p.redirectToSignIn(w, r)
		case rt.Right != Anyone && v.Who.Limited && !rt.Limited:
			http.Redirect(w, r, factorPath, http.StatusSeeOther)
		case !v.Has(rt.Right):
			p.showError(w, r, ErrNotFound)
		default:
			if err := p.serve(rt, w, r); err != nil {
				p.showError(w, r, err)
			}
		}
	})
}

// authenticate looks up the session of the request, if it has a valid one.
func (p *Portal) authenticate(r *http.Request) error {
	v := VisitOf(r)
	bearer := cookieOf(r, sessionCookie)
	if bearer == "" {
		return nil
	}
	who, err := p.Access.Authenticate(r.Context(), bearer, v.From)
	if IsCode(err, fault.Unauthenticated) {
		return nil // ended or never valid: nobody is signed in
	}
	if err != nil {
		return err
	}
	if who.Kind != access.Portal {
		return nil
	}
	if v.Account, err = p.Registry.Account(r.Context(), p.Pool, who.Account); err != nil {
		return err
	}
	if who.Entity != uuid.Nil {
		e, err := p.Registry.Entity(r.Context(), who.Entity)
		if err != nil {
			return err
		}
		v.Supplies, v.Client = e.Supplies, e.Client
	}
	v.Who, v.SignedIn = who, true
	return nil
}

// overAddressLimit counts a request without a session against its network, and
// reports whether the network is over its limit.
func (p *Portal) overAddressLimit(r *http.Request) bool {
	if p.Limiter == nil || p.Address.Unlimited() {
		return false
	}
	return !p.Limiter.Take(r.Context(), limit.From(VisitOf(r).From), p.Address, 1).OK
}

// overSessionLimit counts a request of a session, and reports whether the session is over
// its rate.
func (p *Portal) overSessionLimit(r *http.Request) bool {
	return p.Limiter != nil && !p.Limiter.Take(r.Context(), limit.Of(limit.Session, VisitOf(r).Who.ID), p.Session, 1).OK
}

// serve serves a page, unless as many requests of the session are in progress as may be.
func (p *Portal) serve(rt Route, w http.ResponseWriter, r *http.Request) error {
	if v := VisitOf(r); v.SignedIn && p.Concurrent > 0 {
		session := limit.Of(limit.Session, v.Who.ID)
		if !p.InProgress.Enter(session, p.Concurrent) {
			return errConcurrent
		}
		defer p.InProgress.Leave(session)
	}
	if v := VisitOf(r); v.SignedIn {
		if err := p.People.CheckFactor(r.Context(), v.Who.Account, rt.Action); err != nil {
			return p.orSetUpFactor(rt, w, r, err)
		}
	}
	if rt.Action.NeedsPassword() {
		if proved, err := p.prove(rt, w, r); err != nil || !proved {
			return err
		}
	}
	return p.orSetUpFactor(rt, w, r, rt.Serve(w, r))
}

// redirectToSignIn leads to the sign-in page, which leads back to the requested
// page afterwards.
func (p *Portal) redirectToSignIn(w http.ResponseWriter, r *http.Request) {
	to := signInPath
	if r.Method == http.MethodGet && r.URL.Path != Path {
		to += "?" + url.Values{"to": {r.URL.RequestURI()}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
