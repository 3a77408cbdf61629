package httpapi

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	logoutPath        = "/api/regulator/v1/logout"
	sessionsPath      = "/api/regulator/v1/sessions"
	passwordPath      = "/api/regulator/v1/password"
	resetPath         = "/api/regulator/v1/password-reset"
	resetCompletePath = "/api/regulator/v1/password-reset/complete"
	confirmEmailPath  = "/api/regulator/v1/email/confirm"
)

// messageResponse is the answer of what has nothing more to say.
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
	if err := a.Keeper.EndSession(ctx, who.Account, who.ID, who.Actor(), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"The session has ended."})
}

// listSessions serves GET /api/regulator/v1/sessions.
func (a *API) listSessions(w http.ResponseWriter, r *http.Request) error {
	who := principal(r.Context())
	rows, err := a.Keeper.Sessions(r.Context(), who.Account)
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

// endSessions serves DELETE /api/regulator/v1/sessions: all of one's own, this
// one included.
func (a *API) endSessions(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	var n int64
	err := pg.InTx(ctx, a.People.Pool, func(tx pg.Tx) (err error) {
		n, err = a.Keeper.EndSessions(ctx, tx, who.Account, uuid.Nil, who.Actor(), requestID(ctx))
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
	id, ok := pathID(r, "sessionId")
	if !ok {
		return access.ErrNoSession
	}
	if err := a.Keeper.EndSession(ctx, who.Account, id, who.Actor(), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, endedResponse{1})
}

// pathID returns an id in the path, in the one spelling in which we give it.
func pathID(r *http.Request, name string) (uuid.UUID, bool) {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	return id, err == nil && id.String() == text
}

// changePassword serves POST /api/regulator/v1/password.
func (a *API) changePassword(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var old, fresh string
	found, err := decode(w, r, field{name: "password", text: &old}, field{name: "newPassword", text: &fresh})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentPassword(&wrong, "password", old)
	checkSentPassword(&wrong, "newPassword", fresh)
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.ChangePassword(ctx, principal(ctx), secret.Text(old), secret.Text(fresh), requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"The password is changed, and every other session has ended."})
}

// askReset serves POST /api/regulator/v1/password-reset.
func (a *API) askReset(w http.ResponseWriter, r *http.Request) error {
	var email string
	found, err := decode(w, r, field{name: "email", text: &email})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentEmail(&wrong, email)
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.AskReset(r.Context(), email); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"If there is such an account, a letter is on its way. Its link works for 30 minutes."})
}

// completeReset serves POST /api/regulator/v1/password-reset/complete.
func (a *API) completeReset(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var token, fresh string
	found, err := decode(w, r, field{name: "token", text: &token}, field{name: "newPassword", text: &fresh})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentToken(&wrong, token)
	checkSentPassword(&wrong, "newPassword", fresh)
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.CompleteReset(ctx, token, secret.Text(fresh), audit.Actor{From: callerAddr(ctx)}, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"The password is set, and every session has ended. Log in with it."})
}

// confirmEmail serves POST /api/regulator/v1/email/confirm.
func (a *API) confirmEmail(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var token string
	found, err := decode(w, r, field{name: "token", text: &token})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentToken(&wrong, token)
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.ConfirmEmail(ctx, token, audit.Actor{From: callerAddr(ctx)}, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"The e-mail address is confirmed."})
}
