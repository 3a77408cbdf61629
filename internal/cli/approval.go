package cli

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// approvals returns the service that records a second person's decision.
func approvals(b *backend.Backend) *approval.Service {
	return &approval.Service{Pool: b.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: server.Effects(b.People, b.Supply), Now: time.Now, NotifyStaff: b.People.NotifyOfBreakGlass}
}

// sessionFlag adds the flag with which a member of staff acts instead of the
// operator who runs the command.
func sessionFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("session-file", "", "file whose first line is a staff session, to act as that person instead of the operator; - is standard input")
}

var errNoSession = fault.New(fault.Unauthenticated, "the file has no valid staff session, or the session lacks two-factor authentication; log in again")

var errPasswordAgain = fault.New(fault.PasswordRequired, "the password of this session was entered more than 5 minutes ago; log in again, or send the password to POST /api/regulator/v1/session/prove")

// actor returns who acts: the operator or, if a session is given, its owner. The
// owner needs one of the roles, if any are given, and must have entered the password within
// the last minutes.
func (a *app) actor(ctx context.Context, b *backend.Backend, sessionFile string, roles ...access.Role) (audit.Actor, error) {
	if sessionFile == "" {
		return access.Operator, nil
	}
	text, err := a.ReadSecret(sessionFile)
	if err != nil {
		return audit.Actor{}, err
	}
	who, err := b.Access.Authenticate(ctx, text.Reveal(), netip.Addr{})
	if errors.Is(err, access.ErrUnauthenticated) || err == nil && (who.Kind != access.Session || who.Role == "" || who.Limited) {
		return audit.Actor{}, errNoSession
	}
	if err != nil {
		return audit.Actor{}, err
	}
	if err := b.People.CheckFactor(ctx, who.Account, stepup.Decide); err != nil {
		return audit.Actor{}, err
	}
	proved, err := b.Access.IsProved(ctx, who.ID)
	if err != nil {
		return audit.Actor{}, err
	}
	if !proved {
		return audit.Actor{}, errPasswordAgain
	}
	if len(roles) > 0 && !slices.Contains(roles, who.Role) {
		return audit.Actor{}, access.ErrPermission
	}
	return who.Actor(), nil
}

// runAsActor wraps the function of a command on the object whose id is the
// argument, by the operator or the owner of the session.
func (a *app) runAsActor(idName string, session *string,
	fn func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error,
) func(*cobra.Command, []string) error {
	return backend.On(a.Console, idName, func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		by, err := a.actor(ctx, b, *session)
		if err != nil {
			return err
		}
		return fn(ctx, b, id, by)
	})
}

func (a *app) approvalCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "approval",
		Short: "List, confirm and reject changes that need two people",
		Long: `Changes that are too dangerous for one person wait until another confirms them: everything that lowers a guard, such as
giving rights to staff and clients, restoring a revoked entity, raising limits, a new plan or policy, applying a held file,
and erasing records. The operator who runs the command line is one person. A member of staff who has logged in over the API
acts here with --session-file.`,
		Example: "  lineproof approval list",
	}, a.approvalListCommand(), a.approvalConfirmCommand(), a.approvalRejectCommand(), a.approvalBreakGlassCommand())
}

// approvalJSON is a change that needs a second person, as printed with --json.
type approvalJSON struct {
	ID          string            `json:"approvalId"`
	Kind        string            `json:"kind"`
	Subject     string            `json:"subject"`
	Details     map[string]string `json:"details,omitempty"`
	Reason      string            `json:"reason"`
	State       string            `json:"state"`
	AskedBy     string            `json:"askedBy,omitempty"`
	AskedAt     string            `json:"askedAt"`
	ExpiresAt   string            `json:"expiresAt,omitempty"`
	DecidedBy   string            `json:"decidedBy,omitempty"`
	DecidedAt   string            `json:"decidedAt,omitempty"`
	RejectedFor string            `json:"rejectedFor,omitempty"`
	AloneFrom   string            `json:"aloneFrom,omitempty"` // with break-glass: from when its requester can confirm it
}

func newApprovalJSON(q approval.Approval) approvalJSON {
	return approvalJSON{
		ID: q.ID.String(), Kind: string(q.Kind), Subject: q.Subject.String(), Details: q.Details, Reason: q.Reason, State: string(q.State),
		AskedBy: actorName(q.RequestedBy), AskedAt: console.FormatTime(q.RequestedAt), ExpiresAt: console.FormatTime(q.ExpiresAt),
		DecidedBy: actorName(q.DecidedBy), DecidedAt: console.FormatTime(q.DecidedAt), RejectedFor: q.RejectedFor,
		AloneFrom: console.FormatTime(q.AloneFrom),
	}
}

// newOrderJSON shows a pending order. Clients and staff confirm it over the API.
func newOrderJSON(o order.Order) approvalJSON {
	return approvalJSON{ID: o.ID.String(), Kind: string(o.Kind()), Subject: o.ID.String(), Reason: o.Note, State: string(approval.Waiting), AskedAt: console.FormatTime(o.RequestedAt)}
}

// actorName formats an actor: the kind, and the id if there is one.
func actorName(by audit.Actor) string {
	if by.ID == uuid.Nil {
		return string(by.Kind)
	}
	return string(by.Kind) + " " + by.ID.String()
}

func (a *app) approvalListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List changes that wait for a second person, newest first",
		Long: `Lists changes that wait for a second person; with --all also those that were confirmed or rejected, or have expired.
Pending orders about numbers are listed too; they are confirmed in the portal or over the API.`,
		Example: "  lineproof approval list --all",
		Args:    cobra.NoArgs,
	}
	all := cmd.Flags().Bool("all", false, "also those that are decided or expired")
	limit := cmd.Flags().Int("limit", 100, "maximum number of rows")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		pending, err := approvals(b).List(cmd.Context(), *all, *limit)
		if err != nil {
			return err
		}
		orders, err := (&order.Service{Supply: b.Supply}).List(cmd.Context(), true, *limit)
		if err != nil {
			return err
		}
		list := make([]approvalJSON, 0, len(pending)+len(orders))
		for _, q := range pending {
			list = append(list, newApprovalJSON(q))
		}
		for _, o := range orders {
			list = append(list, newOrderJSON(o))
		}
		return console.List(a.Console, *asJSON, list, console.AsIs,
			"APPROVAL, KIND, SUBJECT, STATE, REQUESTED BY, REQUESTED, EXPIRES, REASON", func(s *approvalJSON) []any {
				return []any{s.ID, s.Kind, s.Subject, s.State, s.AskedBy, s.AskedAt, s.ExpiresAt, s.Reason}
			})
	})
	return cmd
}

func (a *app) approvalConfirmCommand() *cobra.Command {
	return a.approvalDecideCommand(&cobra.Command{
		Use:   "confirm ID",
		Short: "Confirm a change that another person requested",
		Long: `Confirms a change that waits for a second person; it then takes effect. The person who requested it cannot confirm it,
and neither can the account that it concerns.`,
		Example: "  lineproof approval confirm 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, (*approval.Service).Confirm)
}

func (a *app) approvalRejectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reject ID",
		Aliases: []string{"refuse"},
		Short:   "Reject or withdraw a change that waits",
		Long: `Rejects a change that waits for a second person, for a reason that the person who requested it reads. That person uses
this command to withdraw the request, and need not give a reason.`,
		Example: `  lineproof approval reject 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason "The letter names another number."`,
	}
	reason := cmd.Flags().String("reason", "", "why; the person who requested it reads it")
	return a.approvalDecideCommand(cmd, func(s *approval.Service, ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (approval.Approval, error) {
		return s.Refuse(ctx, id, *reason, by, request)
	})
}

func (a *app) approvalDecideCommand(cmd *cobra.Command,
	decide func(*approval.Service, context.Context, uuid.UUID, audit.Actor, uuid.UUID) (approval.Approval, error),
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	session := sessionFlag(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.runAsActor("ID", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		q, err := decide(approvals(b), ctx, id, by, uuid.Nil)
		if err != nil {
			return err
		}
		s := newApprovalJSON(q)
		return a.Print(*asJSON, s, []string{s.ID, s.Kind, s.State})
	})
	return cmd
}
