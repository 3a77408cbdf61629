package supply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	errNoSender     = fault.New(fault.PermissionDenied, "This client cannot send files. Ask the regulator for a client with the scope line:supply, line:port or line:flag.")
	errBaseApplied  = fault.New(fault.IncompatibleState, "The base of ports has already been applied. Report later ports as events.")
	errBaseNotVoid  = fault.New(fault.IncompatibleState, "The base of ports is not voided as a whole. The clearing house withdraws wrong ports of it with VOIDED events.")
	errReadOnceHeld = fault.New(fault.IncompatibleState,
		"This file is applied when two people have confirmed it, so it is read before that and again afterwards. Give a file, not standard input.")
)

// fileAuthority returns the authority in which a supplier sends files. A client that is an operator
// and a sector regulator sends them as the operator.
func (s Supplier) fileAuthority() (line.Authority, bool) {
	for _, a := range []line.Authority{line.Operator, line.ClearingHouse, line.Sector, line.Regulator} {
		if slices.Contains(s.Authorities, a) {
			return a, true
		}
	}
	return 0, false
}

// Sent reports whether an import is the supplier's own. All clients of a network are that network,
// and all clients of the clearing house are the clearing house.
func (s Supplier) Sent(im *Import, plan *numbering.Plan) bool {
	if !slices.Contains(s.Authorities, im.Authority) {
		return false
	}
	switch im.Authority {
	case line.Operator:
		n, ok := plan.Network(s.Network)
		return ok && n == im.Network
	case line.ClearingHouse, line.Regulator:
		return true
	case line.Sector:
	}
	return im.client.UUID == s.Client
}

// sender is who sends a file: a network, the clearing house, a sector regulator or the regulator.
type sender struct {
	authority line.Authority
	network   numbering.Network
	client    uuid.UUID // zero at the command line
}

func (i *Import) sender() sender { return sender{i.Authority, i.Network, i.client.UUID} }

// senderOf finds who a supplier is as the sender of a file.
func senderOf(from Supplier, plan *numbering.Plan) (w sender, err error) {
	var ok bool
	if w.authority, ok = from.fileAuthority(); !ok {
		return w, errNoSender
	}
	w.client = from.Client
	if w.authority == line.Operator {
		if w.network, ok = plan.Network(from.Network); !ok {
			return w, ErrNoNetwork
		}
	}
	return w, nil
}

// sentBy is an SQL condition for imports of a sender: its authority, network and client are the arguments
// from the first on.
const sentBy = `authority = $1 AND network = $2 AND (authority <> 3 OR client_id IS NOT DISTINCT FROM $3)`

func (w sender) args(more ...any) []any {
	return append([]any{int16(w.authority), w.network, idOrNull(w.client)}, more...)
}

// lock keeps two transactions from creating two open imports of one sender, or from creating
// one while they start to void a snapshot.
func (w sender) lock(ctx context.Context, tx pg.Tx) error {
	name := "lineproof import of network " + strconv.Itoa(int(w.network))
	if w.authority != line.Operator {
		name = "lineproof import of " + w.authority.String()
	}
	if w.authority == line.Sector {
		name += " " + w.client.String()
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name); err != nil {
		return fmt.Errorf("supply: lock the imports of a sender: %w", err)
	}
	return nil
}

// ImportsOf lists the last imports of a supplier, newest first.
func (s *Service) ImportsOf(ctx context.Context, from Supplier, limit int) ([]Import, error) {
	_, plan, err := s.Lines.Current(ctx, s.Pool, s.now())
	if err != nil {
		return nil, err
	}
	w, err := senderOf(from, plan)
	if err != nil {
		return nil, err
	}
	return s.queryImports(ctx, `SELECT `+importColumns+` FROM supply_import WHERE `+sentBy+` ORDER BY id DESC LIMIT $4`, w.args(limit)...)
}

// hasLines reports whether the file is the state of all lines of a network.
func (i *Import) hasLines() bool {
	return i.Kind == linefile.Snapshot && i.Authority == line.Operator
}

// IsBase reports whether the file has the ports of all numbers: the clearing house's base.
func (i *Import) IsBase() bool {
	return i.Kind == linefile.Snapshot && i.Authority == line.ClearingHouse
}

// alwaysHeld reports whether a file takes two people, whatever it says: the base moves numbers of all
// networks, and so do orders of the regulator, each of which takes two.
func alwaysHeld(a line.Authority, k linefile.Kind) bool {
	return a == line.Regulator || a == line.ClearingHouse && k == linefile.Snapshot
}

// form returns the format of the rows: only an operator's snapshot has lines.
func (i *Import) form() linefile.Kind {
	if i.hasLines() {
		return linefile.Snapshot
	}
	return linefile.Events
}

// senderName returns the word for the sender of an import: the code of the network, or the authority.
func (i *Import) senderName(plan *numbering.Plan) string {
	if i.Authority == line.Operator {
		return plan.Code(i.Network)
	}
	return i.Authority.String()
}

// checkBase refuses a base when there is one already.
func checkBase(ctx context.Context, from pg.DB) error {
	var one int
	err := from.QueryRow(ctx, `SELECT 1 FROM supply_import WHERE authority = $1 AND kind = 'snapshot' AND state = 'applied' LIMIT 1`, int16(line.ClearingHouse)).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("supply: look for the base of ports: %w", err)
	}
	return errBaseApplied
}
