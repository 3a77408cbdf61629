package httpapi

import (
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	invitationsPath = "/api/regulator/v1/invitations"
	acceptPath      = "/api/regulator/v1/invitations/accept"
	teamPath        = "/api/regulator/v1/team"
)

type accountResponse struct {
	AccountID string  `json:"accountId"`
	Kind      string  `json:"kind"`
	Role      *string `json:"role"`
	Name      string  `json:"name"`
	Email     string  `json:"email"`
	State     string  `json:"state"`
	Verified  bool    `json:"isVerified"`
	CreatedAt string  `json:"createdAt"`
}

type teamResponse struct {
	Accounts []accountResponse `json:"accounts"`
}

type invitedResponse struct {
	Account accountResponse `json:"account"`
	// ApprovalID is set if the requested role needs the approval of another
	// administrator before it takes effect.
	ApprovalID *string `json:"approvalId"`
}

func accountOf(p registry.Account) accountResponse {
	answer := accountResponse{
		AccountID: p.ID.String(), Kind: string(p.Kind), Name: p.Name, Email: p.Email, State: "active", Verified: p.Verified, CreatedAt: stamp(p.CreatedAt),
	}
	if p.Role != "" {
		answer.Role = &p.Role
	}
	switch {
	case p.Disabled:
		answer.State = "removed"
	case !p.Accepted:
		answer.State = "invited"
	}
	return answer
}

// invite serves POST /api/regulator/v1/invitations.
func (a *API) invite(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var kind, entity string
	var g people.InviteForm
	found, err := decode(r, field{name: "email", text: &g.Email}, field{name: "kind", text: &kind}, field{name: "entityUid", text: &entity}, field{name: "role", text: &g.Role})
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(g.Email != "", "email", fault.Required, "Enter the e-mail address of the person.")
	g.Kind = registry.AccountKind(kind)
	wrong.CheckChoice(slices.Contains([]registry.AccountKind{registry.MemberAccount, registry.AdminAccount, registry.StaffAccount}, g.Kind), "kind", kind,
		"Must be member, admin or staff.")
	if entity != "" {
		id, err := uuid.Parse(entity)
		wrong.Check(err == nil, "entityUid", fault.BadFormat, "Must be an entityUid.")
		g.Entity = id
	}
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	i, err := a.People.Invite(ctx, g, principal(ctx), requestID(ctx))
	if err != nil {
		return err
	}
	answer := invitedResponse{Account: accountOf(i.Account)}
	if i.Pending != uuid.Nil {
		id := i.Pending.String()
		answer.ApprovalID = &id
	}
	return a.respond(w, r, answer)
}

// acceptInvitation serves POST /api/regulator/v1/invitations/accept.
func (a *API) acceptInvitation(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var token, name, password string
	found, err := decode(r, field{name: "token", text: &token}, field{name: "name", text: &name}, field{name: "password", text: &password})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentToken(&wrong, token)
	checkSentPassword(&wrong, "password", password)
	wrong.Check(name != "", "name", fault.Required, "Enter your name.")
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	p, err := a.People.Accept(ctx, token, name, secret.Text(password), audit.Actor{From: callerAddr(ctx)}, requestID(ctx))
	if err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Invitation accepted. Log in with " + p.Email + " and the password."})
}

// showTeam serves GET /api/regulator/v1/team.
func (a *API) showTeam(w http.ResponseWriter, r *http.Request) error {
	who := principal(r.Context())
	if !who.Manages && who.Role == "" {
		return access.ErrPermission
	}
	list, err := a.People.Team(r.Context(), who)
	if err != nil {
		return err
	}
	answer := teamResponse{Accounts: make([]accountResponse, len(list))}
	for i, p := range list {
		answer.Accounts[i] = accountOf(p)
	}
	return a.respond(w, r, answer)
}

// removeFromTeam serves DELETE /api/regulator/v1/team/{accountId}.
func (a *API) removeFromTeam(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	if !who.Manages && who.Role != access.Administrator {
		return access.ErrPermission
	}
	id, err := pathID(r, "accountId", registry.ErrNoAccount)
	if err != nil {
		return err
	}
	err = a.People.Remove(ctx, id, "Requested over the API.", who, requestID(ctx))
	if waits, ok := errors.AsType[*approval.WaitsError](err); ok {
		return a.respond(w, r, messageResponse{"Nothing has changed yet: it takes two people to remove an administrator. Another administrator confirms approval " + waits.ID.String() + "."})
	}
	if err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Account removed. Its sessions have ended."})
}
