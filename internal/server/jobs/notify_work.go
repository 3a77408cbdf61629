package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

const (
	workInterval = time.Minute
	// workSince is how far back the job looks, so that an outage of a day hides nothing.
	workSince = 2 * 24 * time.Hour
	// workPage is how many files or documents it reads at once.
	workPage = 200
	// mostApprovals is more than ever wait: people request them one by one.
	mostApprovals = 10_000
)

// notifyWork notifies people of held files, approvals that wait for a second person, requests
// of theirs that were rejected, and rejected documents, each once.
func (j *Jobs) notifyWork(ctx context.Context) error {
	for _, notify := range []func(context.Context) error{j.notifyOfApprovals, j.notifyOfRejections, j.notifyOfFiles, j.notifyOfDocuments} {
		if err := notify(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (j *Jobs) notifyOfApprovals(ctx context.Context) error {
	list, err := (&approval.Service{Pool: j.Pool, Now: j.Now}).List(ctx, false, mostApprovals)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, j.Pool, func(tx pg.Tx) error {
		for i := range list {
			a := &list[i]
			if a.State != approval.Waiting || j.Now().Sub(a.RequestedAt) > workSince {
				continue
			}
			action := approval.ActionOf(a.Kind)
			var roles []access.Role
			for _, role := range action.Confirm {
				roles = append(roles, access.Role(role))
			}
			requester := uuid.Nil
			if a.RequestedBy.Kind == audit.Account {
				requester = a.RequestedBy.ID
			}
			n := people.Notice{Kind: people.ApprovalWaits, Content: message.Content{About: action.What, Detail: "It expires on " + a.ExpiresAt.UTC().Format("2 January 2006, 15:04 UTC") + ".", Path: "/portal/desk/approvals", Ref: a.ID}}
			if err := j.People.NotifyStaff(ctx, tx, n, requester, roles...); err != nil {
				return err
			}
		}
		return nil
	})
}

// rejections notifies the people whose requests and orders somebody else rejected.
func (j *Jobs) notifyOfRejections(ctx context.Context) error {
	since := j.Now().Add(-workSince)
	requests, err := (&approval.Service{Pool: j.Pool, Now: j.Now}).Rejected(ctx, since)
	if err != nil {
		return err
	}
	orders, err := (&order.Service{Supply: j.Supply}).Rejected(ctx, since)
	if err != nil {
		return err
	}
	actsUntil := map[uuid.UUID]string{} // a bar that was refused ends when it lapses
	for i := range orders {
		o := &orders[i]
		requests = append(requests, approval.Approval{ID: o.ID, Kind: o.Kind(), RequestedBy: o.RequestedBy, DecidedBy: o.DecidedBy, RejectedFor: o.RejectedFor})
		if o.LapsesAt.After(j.Now()) {
			actsUntil[o.ID] = ", which acts until " + o.LapsesAt.Format("2006-01-02 15:04") + " UTC"
		}
	}
	return pg.InTx(ctx, j.Pool, func(tx pg.Tx) error {
		for i := range requests {
			a := &requests[i]
			if a.RequestedBy.Kind != audit.Account || a.DecidedBy.Same(a.RequestedBy) {
				continue
			}
			n := people.Notice{Kind: people.RequestRejected, Content: message.Content{About: approval.ActionOf(a.Kind).What + actsUntil[a.ID], Detail: a.RejectedFor, Path: "/portal/desk/approvals", Ref: a.ID}}
			if err := j.People.Notify(ctx, tx, n, []uuid.UUID{a.RequestedBy.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j *Jobs) notifyOfFiles(ctx context.Context) error {
	open := supply.ImportFilter{Open: true, Limit: workPage}
	for {
		list, next, err := j.Supply.ImportPage(ctx, open)
		if err != nil {
			return err
		}
		if err := j.heldFiles(ctx, slices.DeleteFunc(list, func(im supply.Import) bool { return im.State != supply.Held })); err != nil || next == uuid.Nil {
			return err
		}
		open.After = next
	}
}

func (j *Jobs) heldFiles(ctx context.Context, held []supply.Import) error {
	if len(held) == 0 {
		return nil
	}
	_, plan, err := j.Supply.Lines.Current(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	return pg.InTx(ctx, j.Pool, func(tx pg.Tx) error {
		for i := range held {
			im := &held[i]
			code := plan.Code(im.Network)
			c := message.Content{About: string(im.Kind) + " of " + cmp.Or(code, im.Authority.String()), Detail: im.Reason, Path: "/portal/desk/supply/imports/" + im.ID.String(), Ref: im.ID}
			if err := j.People.NotifyStaff(ctx, tx, people.Notice{Kind: people.FileHeld, Content: c}, uuid.Nil, access.Administrator, access.Reviewer); err != nil {
				return err
			}
			if code == "" { // only networks have people in the portal
				continue
			}
			c.Path = "/portal/supply/imports/" + im.ID.String()
			if err := j.People.NotifyNetwork(ctx, tx, people.Notice{Kind: people.FileHeld, Content: c}, code); err != nil {
				return err
			}
		}
		return nil
	})
}

// documents reads the documents in the order in which they were rejected, the last first,
// until they are older than it looks back.
func (j *Jobs) notifyOfDocuments(ctx context.Context) error {
	rejected := document.Filter{States: []document.State{document.Rejected}, Sort: document.BySince, Descending: true, Limit: workPage}
	for {
		list, next, err := j.Documents.List(ctx, rejected)
		if err != nil {
			return err
		}
		old := slices.IndexFunc(list, func(d document.Document) bool { return j.Now().Sub(d.Moved) > workSince })
		if old >= 0 {
			list, next = list[:old], ""
		}
		if err := j.rejectedDocuments(ctx, list); err != nil || next == "" {
			return err
		}
		rejected.After = next
	}
}

func (j *Jobs) rejectedDocuments(ctx context.Context, list []document.Document) error {
	if len(list) == 0 {
		return nil
	}
	return pg.InTx(ctx, j.Pool, func(tx pg.Tx) error {
		for i := range list {
			d := &list[i]
			c := message.Content{About: d.Label, Detail: d.Note, Path: "/portal/documents/" + d.ID.String(), Ref: d.ID}
			if err := j.People.NotifyAdmins(ctx, tx, people.Notice{Kind: people.DocumentRejected, Content: c}, d.Entity); err != nil {
				return err
			}
		}
		return nil
	})
}
