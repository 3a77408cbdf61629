package portal

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/limit"
)

const (
	// mostForm is far above any form without a file.
	mostForm = 64 << 10
	// Of everything but uploads, and of those.
	pageTime   = 10 * time.Second
	uploadTime = 5 * time.Minute
)

var errAddress = fault.New(fault.TooManyRequests, "Too many requests came from this network. Wait a minute, then try again.")

// door lets in whom the route is for.
func (p *Portal) door(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r, rt.name())
		ctx, cancel := bound(r.Context(), w, rt)
		defer cancel()
		r = r.WithContext(ctx)
		if !rt.upload {
			r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		}
		if err := p.recognise(r); err != nil {
			p.fail(w, r, err)
			return
		}
		v := visitOf(r)
		switch {
		case !v.signed && p.overrun(r):
			p.fail(w, r, errAddress)
		case rt.who != anyone && !v.signed:
			p.sendToSignIn(w, r)
		case rt.who != anyone && v.who.Limited && !rt.limited:
			http.Redirect(w, r, factorPath, http.StatusSeeOther)
		case !v.has(rt.who):
			p.fail(w, r, errNoPage)
		default:
			if err := rt.serve(w, r); err != nil {
				p.fail(w, r, err)
			}
		}
	})
}

// bound bounds how long a handler may take, reading the body included.
func bound(ctx context.Context, w http.ResponseWriter, rt route) (context.Context, context.CancelFunc) {
	d := pageTime
	if rt.upload {
		d = uploadTime
	}
	deadline := time.Now().Add(d)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(deadline)                       // not every writer can
	_ = control.SetWriteDeadline(deadline.Add(5 * time.Second)) // time to say why
	return context.WithDeadline(ctx, deadline.Add(100*time.Millisecond))
}

// recognise finds out who is signed in, if anybody is.
func (p *Portal) recognise(r *http.Request) error {
	v := visitOf(r)
	bearer := cookieOf(r, sessionCookie)
	if bearer == "" {
		return nil
	}
	who, err := p.Keeper.Admit(r.Context(), bearer, v.from)
	if isCode(err, fault.Unauthenticated) {
		return nil // over, or never one: nobody is signed in
	}
	if err != nil {
		return err
	}
	if who.Kind != access.Session {
		return nil
	}
	if v.person, err = p.Registry.Account(r.Context(), p.Pool, who.Account); err != nil {
		return err
	}
	if who.Entity != uuid.Nil {
		e, err := p.Registry.Entity(r.Context(), who.Entity)
		if err != nil {
			return err
		}
		v.telco, v.client = e.Supplies, e.Client
	}
	v.who, v.signed = who, true
	return nil
}

// overrun lets the network of somebody who is not signed in pay for the request,
// and reports whether it has asked too much.
func (p *Portal) overrun(r *http.Request) bool {
	if p.Limiter == nil || p.Address.Unlimited() {
		return false
	}
	return !p.Limiter.Take(r.Context(), limit.From(visitOf(r).from), p.Address, 1).OK
}

// sendToSignIn asks somebody to sign in, and remembers where they wanted to go.
func (p *Portal) sendToSignIn(w http.ResponseWriter, r *http.Request) {
	to := signInPath
	if r.Method == http.MethodGet && r.URL.Path != Path {
		to += "?" + url.Values{"to": {r.URL.RequestURI()}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
