package supply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNoNetwork reports a supplier whose network is not on the numbering plan.
var ErrNoNetwork = fault.New(fault.IncompatibleState,
	"The network of this client is not on the numbering plan. Ask the regulator to correct the client or the plan.")

// Supplier is in whose name a report is made.
type Supplier struct {
	Authorities []line.Authority // every authority in which the caller may report
	Network     string           // the code of the network, for an operator
	Client      uuid.UUID        // zero at the command line
	Actor       audit.Actor
}

// resolvedSupplier is a Supplier with its ids in the numbering plan and in the
// supplier table.
type resolvedSupplier struct {
	Supplier

	network     numbering.Network        // 0 unless the supplier is an operator
	supplierIDs map[line.Authority]int32 // an id for each of the supplier's authorities
}

// resolve finds the supplier's network and its id for each authority.
func (s *Service) resolve(ctx context.Context, tx pg.Tx, from Supplier, r rules) (*resolvedSupplier, error) {
	resolved := &resolvedSupplier{Supplier: from, supplierIDs: make(map[line.Authority]int32, len(from.Authorities))}
	if slices.Contains(from.Authorities, line.Operator) {
		var ok bool
		if resolved.network, ok = r.plan.Network(from.Network); !ok {
			return nil, ErrNoNetwork
		}
	}
	for _, a := range from.Authorities {
		id, err := supplierID(ctx, tx, a, resolved, r.now)
		if err != nil {
			return nil, fmt.Errorf("supply: find the supplier: %w", err)
		}
		resolved.supplierIDs[a] = id
	}
	return resolved, nil
}

// supplierID returns the id of a supplier, and creates it if needed. All clients
// of one operator share the id of its network; any other client has its own; the
// command line has id 0.
func supplierID(ctx context.Context, tx pg.Tx, a line.Authority, by *resolvedSupplier, now time.Time) (id int32, err error) {
	var network *numbering.Network
	var client *uuid.UUID
	switch {
	case a == line.Operator:
		network = &by.network
	case by.Client != uuid.Nil:
		client = &by.Client
	default:
		return 0, nil
	}
	const find = `SELECT id FROM supplier WHERE network = $1 OR client_id = $2`
	if err = tx.QueryRow(ctx, find, network, client).Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	err = tx.QueryRow(ctx, `INSERT INTO supplier (network, client_id, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id`,
		network, client, now).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) { // another transaction has just created it
		err = tx.QueryRow(ctx, find, network, client).Scan(&id)
	}
	return id, err
}

// authorityFor returns the first of the supplier's authorities that may report a
// kind of event.
func (by *resolvedSupplier) authorityFor(k line.Kind) (line.Authority, bool) {
	for _, a := range by.Authorities {
		if k.MayReport(a) {
			return a, true
		}
	}
	return 0, false
}

// checkAuthority checks that the supplier may report this event about this
// number, as of the time at which the event took effect. An empty reason means
// that it may, or that it may turn out that it could: the event is then outside.
//
// The regulator may report about every number. Everybody else needs a number
// that was allocated or in use. In addition, an operator needs a number that was
// with its network at that time. What it reports about another one is pending: the
// port may not be known yet. Only the last donor has nothing to say any more,
// unless it has claimed the number back. To assign a number to a new holder, the
// network must hold the number's range.
func (cs *changeSet) checkAuthority(i *item, c *linechange.Change) (field, reason, message string) {
	e := &i.event
	allocation, allocated := cs.plan.RangeOf(i.number, e.Effective.Time())
	if e.Kind == line.Void || e.Authority == line.Regulator {
		return "", "", "" // for a void, resolveVoid has already checked it
	}
	row := c.RowBefore(e)
	if !allocated && row.State == line.StateNone {
		return "phoneNumber", "NOT_ALLOCATED", "The numbering plan had not allocated this number to any network at that time."
	}
	if e.Authority != line.Operator {
		return "", "", ""
	}
	holder := linechange.HolderOf(&row, allocation.Network)
	switch {
	case e.Kind == line.Reinstate && row.State == line.StateEnded:
		holder = row.Network // the network that ended the tenure gets it back
	case e.Kind == line.ReleasePort && row.State == line.StateEnded && row.Network == e.Network && e.Effective <= row.StateSince.Add(line.PortGrace):
		holder = row.Network // the end gives way to the port that the release is about
	case e.Kind == line.ClaimPort && holder == e.Network && row.State != line.StateEnded:
		return "phoneNumber", "NOT_ALLOWED", "The number is already with this network."
	case e.Kind == line.ClaimPort:
		e.Outside = allocation.Network != e.Network
		return "", "", "" // of a number that has just ended, because the donor deactivates it before it releases it
	case e.Kind == line.Assign && allocation.Network != e.Network:
		return "phoneNumber", "NOT_YOURS", "Only the network that holds the range can assign the number to a new holder. The network that serves the line reports TRANSFERRED."
	}
	if holder == e.Network || holder == 0 {
		return "", "", ""
	}
	if e.Kind == line.Assign || c.IsLastDonor(e, allocation.Network) {
		return "phoneNumber", "NOT_YOURS", "The number was not with this network at that time."
	}
	e.Outside = true
	return "", "", ""
}

const (
	// portedOut is the reason for refusing a row whose number was ported to another
	// network. The row is outdated rather than wrong, so it does not count against the
	// file (see holdReason).
	portedOut = "PORTED_OUT"
	// portUnknown means that a row is about a number of another network of whose
	// port nothing is known. It is kept until the port is reported.
	portUnknown = "PORT_UNKNOWN"
)

// authoriseRow is checkAuthority for a row of a snapshot. It returns the baseline
// that the row describes, or why the operator may not describe this number. Row is
// the line as of the snapshot's time.
func (r *importRun) authoriseRow(from *linefile.Row, row line.Row) (base line.Baseline, refusal linefile.Refusal) {
	allocation, allocated := r.rules.plan.RangeOf(from.Number, r.im.AsOf)
	refusal = linefile.Refusal{Place: from.Place, Field: "number"}
	base = from.Snap
	base.Import, base.Network = r.im.id, r.im.Network
	if base.State == line.StateNoticed && base.Until == line.Never {
		base.Until = line.InstantOf(r.im.AsOf.Add(r.rules.policy.Notice()))
	}
	holder := linechange.HolderOf(&row, allocation.Network)
	if row.State == line.StateEnded && row.Network == r.im.Network {
		holder = row.Network // the network that ended the tenure may reinstate it
	}
	switch {
	case (holder == r.im.Network || row.State.Ongoing() && holder == 0) && (allocated || row.State != line.StateNone):
		refusal = linefile.Refusal{}
	case row.State.Ongoing() && row.PortAt != line.Never && allocation.Network == r.im.Network:
		refusal.Reason = portedOut
	case !allocated:
		refusal.Reason = "NOT_ALLOCATED"
	default:
		refusal.Reason = portUnknown
	}
	return base, refusal
}
