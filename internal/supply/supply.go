// Package supply takes in what operators, the clearing house, sector regulators
// and the regulator tell about lines, and keeps account of how complete and how
// late it is.
//
// Who may say what is judged at the time at which an event took effect, not at
// which it was told. Each event stands or falls alone and has its own result;
// told twice it counts once. A file is applied in chunks, each in one
// transaction together with the file's progress, so that a crash neither loses
// nor doubles a row.
package supply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrNoNetwork reports a supplier whose network is not on the numbering plan.
var ErrNoNetwork = fault.New(fault.IncompatibleState,
	"The network of this client is not on the numbering plan. Ask the regulator to correct the client or the plan.")

// Desk takes supplies in. All fields but Files and Peppers are required.
type Desk struct {
	Pool    *pgxpool.Pool
	Region  *phone.Region
	Lines   *line.Almanac
	Files   blob.Store      // where files wait that came over the API
	Peppers *secret.Peppers // name a number in the audit trail; needed to look one up
	Now     func() time.Time
}

// Speaker is in whose name something is told.
type Speaker struct {
	Authorities []line.Authority // all that the caller may speak as
	Network     string           // the code of the network, for an operator
	Client      uuid.UUID        // zero at the command line
	Actor       audit.Actor
}

// voice is a speaker whom the database knows.
type voice struct {
	Speaker

	network  numbering.Network
	supplier map[line.Authority]int32
}

// as returns the authority in which the speaker may tell a kind of event.
func (v *voice) as(k line.Kind) (line.Authority, bool) {
	for _, a := range v.Authorities {
		if k.MayTell(a) {
			return a, true
		}
	}
	return 0, false
}

// rules are what everything told in one transaction is judged by.
type rules struct {
	policy *policy.Policy
	plan   *numbering.Plan
	now    time.Time
}

// rulesAt reads the policy and the plan that are in force.
func (d *Desk) rulesAt(ctx context.Context, from pg.DB, now time.Time) (rules, error) {
	policy, plan, err := d.Lines.InForce(ctx, from, now)
	if err != nil {
		return rules{}, err
	}
	return rules{policy: policy, plan: plan, now: now}, nil
}

// hear makes the speaker known: its network, and a supplier for each authority.
func (d *Desk) hear(ctx context.Context, tx pg.Tx, s Speaker, r rules) (*voice, error) {
	v := &voice{Speaker: s, supplier: make(map[line.Authority]int32, len(s.Authorities))}
	if slices.Contains(s.Authorities, line.Operator) {
		var ok bool
		if v.network, ok = r.plan.Network(s.Network); !ok {
			return nil, ErrNoNetwork
		}
	}
	for _, a := range s.Authorities {
		id, err := supplierOf(ctx, tx, a, v, r.now)
		if err != nil {
			return nil, fmt.Errorf("supply: name the supplier: %w", err)
		}
		v.supplier[a] = id
	}
	return v, nil
}

// supplierOf finds or makes the supplier: the network for an operator, whichever
// of its clients speaks; otherwise the client; id 0 is the command line.
func supplierOf(ctx context.Context, tx pg.Tx, a line.Authority, v *voice, now time.Time) (id int32, err error) {
	var network *numbering.Network
	var client *uuid.UUID
	switch {
	case a == line.Operator:
		network = &v.network
	case v.Client != uuid.Nil:
		client = &v.Client
	default:
		return 0, nil
	}
	const find = `SELECT id FROM supplier WHERE network = $1 OR client_id = $2`
	if err = tx.QueryRow(ctx, find, network, client).Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	err = tx.QueryRow(ctx, `INSERT INTO supplier (network, client_id, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id`,
		network, client, now).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) { // somebody else was faster
		err = tx.QueryRow(ctx, find, network, client).Scan(&id)
	}
	return id, err
}

// tries is how often a transaction is begun again that met another one.
const tries = 8

// inTx runs fn in a transaction, again when another one was in its way.
func (d *Desk) inTx(ctx context.Context, fn func(tx pg.Tx) error) error {
	return again(func() error { return pg.InTx(ctx, d.Pool, fn) })
}

// inLongTx is inTx for a chunk of a file.
func (d *Desk) inLongTx(ctx context.Context, fn func(tx pg.Tx) error) error {
	return again(func() error { return pg.InLongTx(ctx, d.Pool, fn) })
}

func again(try func() error) (err error) {
	for range tries {
		if err = try(); err == nil || !met(err) {
			return err
		}
	}
	return fault.New(fault.Unavailable, "Too many others speak of the same numbers. Send it again shortly.").Because(err)
}

// met reports whether a transaction failed only because of another one.
func met(err error) bool {
	if errors.Is(err, line.ErrMoved) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001" || e.Code == "55P03" || e.Code == "23505" && e.TableName != "supply_import")
}

// now is the present to the microsecond, which is what PostgreSQL keeps.
func (d *Desk) now() time.Time { return d.Now().UTC().Truncate(time.Microsecond) }
