package httpapi

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	logoutPath        = "/api/regulator/v1/logout"
	sessionsPath      = "/api/regulator/v1/sessions"
	passwordPath      = "/api/regulator/v1/password"
	resetPath         = "/api/regulator/v1/password-reset"
	resetCompletePath = "/api/regulator/v1/password-reset/complete"
	confirmEmailPath  = "/api/regulator/v1/email/confirm"
)

// messageResponse is for operations that return nothing but a message.
type messageResponse struct {
	Message string `json:"message"`
}

type sessionResponse struct {
	SessionID  string `json:"sessionId"`
	Current    bool   `json:"current"`
	From       string `json:"from"`
	Agent      string `json:"agent"`
	CreatedAt  string `json:"createdAt"`
	LastSeenAt string `json:"lastSeenAt"`
	ExpiresAt  string `json:"expiresAt"`
}

type sessionsResponse struct {
	Sessions []sessionResponse `json:"sessions"`
}

type endedResponse struct {
	Ended int64 `json:"ended"`
}

// logOut serves POST /api/regulator/v1/logout.
func (a *API) logOut(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	if err := a.Access.EndSession(ctx, who.Account, who.ID, who.Actor(), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Session ended."})
}

// listSessions serves GET /api/regulator/v1/sessions.
func (a *API) listSessions(w http.ResponseWriter, r *http.Request) error {
	who := principal(r.Context())
	rows, err := a.Access.Sessions(r.Context(), who.Account)
	if err != nil {
		return err
	}
	list := make([]sessionResponse, len(rows))
	for i, s := range rows {
		list[i] = sessionResponse{
			SessionID: s.ID.String(), Current: s.ID == who.ID, From: s.From, Agent: s.Agent,
			CreatedAt: stamp(s.CreatedAt), LastSeenAt: stamp(s.LastSeenAt), ExpiresAt: stamp(s.ExpiresAt),
		}
	}
	return a.respond(w, r, sessionsResponse{list})
}

// endSessions serves DELETE /api/regulator/v1/sessions: it ends all sessions of
// the caller's account, including this one.
func (a *API) endSessions(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	var n int64
	err := pg.InTx(ctx, a.People.Pool, func(tx pg.Tx) (err error) {
		n, err = a.Access.EndSessions(ctx, tx, who.Account, uuid.Nil, who.Actor(), requestID(ctx))
		return err
	})
	if err != nil {
		return err
	}
	return a.respond(w, r, endedResponse{n})
}

// endSession serves DELETE /api/regulator/v1/sessions/{sessionId}.
func (a *API) endSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	id, err := pathID(r, "sessionId", access.ErrNoSession)
	if err != nil {
		return err
	}
	if err := a.Access.EndSession(ctx, who.Account, id, who.Actor(), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, endedResponse{1})
}

// pathID returns an id in the path. What is not an id, in capitals or not, is the id of nothing.
func pathID(r *http.Request, name string, unknown error) (uuid.UUID, error) {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) { // it reads other forms, too
		return uuid.Nil, unknown
	}
	return id, nil
}

// changePassword serves POST /api/regulator/v1/password.
func (a *API) changePassword(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var old, fresh string
	found, err := decode(r, field{name: "password", text: &old}, field{name: "newPassword", text: &fresh})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentPassword(&wrong, "password", old)
	checkSentPassword(&wrong, "newPassword", fresh)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.ChangePassword(ctx, principal(ctx), secret.Text(old), secret.Text(fresh), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Password changed. All other sessions have ended."})
}

// requestReset serves POST /api/regulator/v1/password-reset.
func (a *API) requestReset(w http.ResponseWriter, r *http.Request) error {
	var email string
	found, err := decode(r, field{name: "email", text: &email})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentEmail(&wrong, email)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.RequestReset(r.Context(), email); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"If the account exists, an e-mail with a link has been sent. The link is valid for 30 minutes."})
}

// completeReset serves POST /api/regulator/v1/password-reset/complete.
func (a *API) completeReset(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var token, fresh string
	found, err := decode(r, field{name: "token", text: &token}, field{name: "newPassword", text: &fresh})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentToken(&wrong, token)
	checkSentPassword(&wrong, "newPassword", fresh)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.CompleteReset(ctx, token, secret.Text(fresh), audit.Actor{From: callerAddr(ctx)}, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Password set. All sessions have ended; log in with the new password."})
}

// confirmEmail serves POST /api/regulator/v1/email/confirm.
func (a *API) confirmEmail(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var token string
	found, err := decode(r, field{name: "token", text: &token})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentToken(&wrong, token)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.ConfirmEmail(ctx, token, audit.Actor{From: callerAddr(ctx)}, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"E-mail address confirmed."})
}
