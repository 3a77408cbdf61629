package server_test

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// actionCase is how somebody requests an action, and how the test sees that it took
// effect. Prepare runs as the operator, before there are founders.
type actionCase struct {
	prepare func(*twoPeople)
	request func(w *twoPeople, by audit.Actor) (uuid.UUID, error)
	done    func(*twoPeople) bool
}

const number = "+2348035550001"

// orderCase is an order about a number. A state of the line's row that it changes tells
// whether it took effect.
func orderCase(f order.Form, prepare func(*twoPeople), done string) actionCase {
	return actionCase{
		prepare,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			form := f
			form.PhoneNumber, form.Note = number, reason
			if form.Action == "VOID" || form.Action == "CONFIRM" {
				form.Event = w.event()
			}
			if form.EffectiveAt != "" {
				form.EffectiveAt = time.Now().AddDate(0, 0, -7).Format(time.RFC3339)
			}
			o, err := w.orders.Create(w.Context(), supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: by}, form)
			if err == nil && o.State != order.Pending {
				w.Errorf("%s is %s at once", f.Action, o.State)
			}
			return o.ID, err
		},
		func(w *twoPeople) bool { return w.holds(done) },
	}
}

// event returns the number of the held event of the line, or of its first.
func (w *twoPeople) event() string {
	w.Helper()
	var seq int64
	if err := w.pool.QueryRow(w.Context(), `SELECT seq FROM line_event ORDER BY hold DESC NULLS LAST, seq LIMIT 1`).Scan(&seq); err != nil {
		w.Fatal(err)
	}
	return strconv.FormatInt(seq, 10)
}

// ordered gives an order that two people agree on.
func ordered(action string) func(*twoPeople) {
	return func(w *twoPeople) {
		w.Helper()
		by := func() supply.Supplier {
			return supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: audit.Actor{Kind: audit.Account, ID: uuid.New()}}
		}
		o := value(w.orders.Create(w.Context(), by(), order.Form{PhoneNumber: number, Action: action, Reason: map[string]string{"BAR": "COURT"}[action], Note: reason}))(w)
		if o.State == order.Pending {
			value(w.orders.Confirm(w.Context(), by(), o.ID))(w)
		}
	}
}

// rejectedBar gives a bar that somebody rejects.
func rejectedBar(w *twoPeople) {
	w.Helper()
	by := supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: audit.Actor{Kind: audit.Account, ID: uuid.New()}}
	o := value(w.orders.Create(w.Context(), by, order.Form{PhoneNumber: number, Action: "BAR", Reason: "COURT", Note: reason}))(w)
	w.refuse(approval.Action{Order: true}, o.ID, by.Actor)
}

// heldByShare stores an event that is held because too many lines changed at once.
func heldByShare(w *twoPeople) {
	w.Helper()
	id := uuid.New()
	from := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}
	value(w.orders.Supply.ApplyEvents(w.Context(), from, []supply.Item{
		{ID: "e1", PhoneNumber: number, Type: "PARKED", EffectiveAt: time.Now().AddDate(0, 0, -500).Format(time.RFC3339)},
		{ID: "e2", PhoneNumber: number, Type: "USED", EffectiveAt: time.Now().AddDate(0, 0, -400).Format(time.RFC3339)},
	}))(w)
	owner := pgtest.Open(w, w.pool.Config().ConnString(), "") // the service cannot change an event
	defer owner.Close()
	for _, table := range []string{"line_event", "line_open"} {
		value(owner.Exec(w.Context(), `UPDATE `+table+` SET hold = $1 WHERE hold <> 0`, int16(line.HoldMass)))(w)
	}
}

// imported stores an import in a state.
func imported(state string) func(*twoPeople) {
	return func(w *twoPeople) {
		w.Helper()
		w.subject = uuid.New()
		w.exec(`INSERT INTO supply_import (uid, network, supplier, supplier_name, kind, as_of, dry_run, source, state, created_at, updated_at, finished_at)
			VALUES ($1, 1, 1, 'MTN', 'snapshot', now() - interval '1 hour', false, 'cli', $2, $3, $3, $3)`, w.subject, state, time.Now())
	}
}

func importCase(state, then string, request func(*order.Service, *twoPeople, order.ImportDecision) (uuid.UUID, error)) actionCase {
	return actionCase{
		imported(state),
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return request(w.orders, w, order.ImportDecision{Import: w.subject, Reason: reason, By: by})
		},
		func(w *twoPeople) bool {
			return w.holds(`state = $2 FROM supply_import WHERE uid = $1`, w.subject, then)
		},
	}
}

// seal seals the number for half a year.
func (w *twoPeople) seal(by audit.Actor) (id, pending uuid.UUID, err error) {
	n := value(w.people.Registry.Region.Parse(number))(w)
	return outbox.RequestSeal(w.Context(), w.pool, time.Now(), outbox.SealForm{Number: n, Until: time.Now().AddDate(0, 6, 0), Reason: reason, By: by})
}

// actionCases has every action of the table that takes two people.
var actionCases = map[approval.Kind]actionCase{
	"line.blacklist":     orderCase(order.Form{Action: "BLACKLIST"}, nil, `EXISTS (SELECT FROM line_now WHERE black_at IS NOT NULL)`),
	"line.release":       orderCase(order.Form{Action: "RELEASE"}, ordered("BLACKLIST"), `NOT EXISTS (SELECT FROM line_now WHERE black_at IS NOT NULL)`),
	"line.unbar":         orderCase(order.Form{Action: "UNBAR"}, ordered("BAR"), `NOT EXISTS (SELECT FROM line_now WHERE number_bar_at IS NOT NULL)`),
	"line.void":          orderCase(order.Form{Action: "VOID"}, ordered("BAR"), `NOT EXISTS (SELECT FROM line_now WHERE number_bar_at IS NOT NULL)`),
	"line.backdated":     orderCase(order.Form{Action: "BAR", Reason: "COURT", EffectiveAt: "last week"}, nil, `EXISTS (SELECT FROM line_now WHERE number_bar_at IS NOT NULL)`),
	"line.bar_again":     orderCase(order.Form{Action: "BAR", Reason: "COURT"}, rejectedBar, `count(*) = 2 FROM line_event`),
	"line.confirm_share": orderCase(order.Form{Action: "CONFIRM"}, heldByShare, `NOT EXISTS (SELECT FROM line_open)`),

	"import.confirm": importCase("held", "applying", func(s *order.Service, w *twoPeople, d order.ImportDecision) (uuid.UUID, error) {
		return s.ConfirmHeld(w.Context(), d)
	}),
	"import.void": importCase("applied", "voiding", func(s *order.Service, w *twoPeople, d order.ImportDecision) (uuid.UUID, error) {
		return s.VoidSnapshot(w.Context(), d)
	}),

	"supply.announce": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return w.orders.Announce(w.Context(), order.MassChange{Network: "MTN", Lines: 5000, From: time.Now(), Until: time.Now().AddDate(0, 0, 7), Reason: reason, By: by})
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM supply_announced)`) },
	},

	"supply.accept": {
		func(w *twoPeople) {
			w.exec(`INSERT INTO supply_coverage (network, topic, doubtful, updated_at) VALUES (0, 3, true, now()) ON CONFLICT (network, topic) DO UPDATE SET doubtful = true`)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return w.orders.Accept(w.Context(), order.Acceptance{Topic: "PORT", Reason: reason, By: by})
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM supply_coverage WHERE network = 0 AND accepted_on IS NOT NULL AND NOT doubtful)`)
		},
	},

	"entity.restore": {
		func(w *twoPeople) {
			value(w.people.Registry.Revoke(w.Context(), w.entity, reason, access.Operator, uuid.Nil))(w)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			change, err := w.people.Registry.Restore(w.Context(), w.entity, reason, by, uuid.Nil)
			return change.Pending, err
		},
		func(w *twoPeople) bool { return w.holds(`status = 'Approved' FROM entity WHERE id = $1`, w.entity) },
	},
	"entity.limits": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return uuid.Nil, w.people.Access.SetLimits(w.Context(), w.entity, access.Limits{DayNumbers: 5_000_000_000}, reason, by, uuid.Nil)
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM entity_limit WHERE day_numbers = 5000000000)`)
		},
	},
	"guard.release": {
		func(w *twoPeople) {
			w.exec(`INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget) VALUES ($1, $2, 'density', 'stopped', now(), 'n', 1, 1, 1, 1, 1)`, uuid.New(), w.entity)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			_, err := guard.Release(w.Context(), w.pool, time.Now(), guard.ReleaseForm{Entity: w.entity, Reason: reason, Quiet: time.Hour, By: by})
			return uuid.Nil, err
		},
		func(w *twoPeople) bool { return w.holds(`released_at IS NOT NULL FROM guard_alert`) },
	},
	"file.release": {
		func(w *twoPeople) {
			w.subject = uuid.New()
			w.exec(`INSERT INTO api_key (id, entity_id, name, mode, purpose, mac, preview, created_at) VALUES ($1, $2, 'files', 'live', 'payment', sha256('x'), 'lp_live_x', now())`, w.subject, w.entity)
			w.exec(`INSERT INTO file_job (id, entity_id, mode, key_id, name, state, created_at, received_at) VALUES ($1, $2, 'live', $1, 'customers', 'held', now(), now())`, w.subject, w.entity)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return uuid.Nil, filejob.RequestRelease(w.Context(), w.pool, time.Now(), filejob.Decision{Job: w.subject, Reason: reason, By: by})
		},
		func(w *twoPeople) bool { return w.holds(`state = 'running' FROM file_job`) },
	},
	"watch.release": {
		func(w *twoPeople) {
			w.subject = uuid.New()
			w.exec(`INSERT INTO watch_list (id, entity_id, mode, name, state, created_at, changed_at) VALUES ($1, $2, 'live', 'customers', 'held', now(), now())`, w.subject, w.entity)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return uuid.Nil, watchlist.RequestRelease(w.Context(), w.pool, time.Now(), watchlist.ReleaseForm{List: w.subject, Reason: reason, By: by})
		},
		func(w *twoPeople) bool { return w.holds(`state = 'active' FROM watch_list`) },
	},
	"client.scopes": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			c, err := w.people.Access.CreateClient(w.Context(), access.ClientForm{Name: "The court", Scopes: []string{"line:order"}, Reason: reason}, by, uuid.Nil)
			return c.Pending, err
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM client WHERE 'line:order' = ANY(scopes))`)
		},
	},
	"client.secret": {
		func(w *twoPeople) {
			w.subject = value(w.people.Access.CreateClient(w.Context(), access.ClientForm{Name: "MTN", Scopes: []string{"line:supply"}, Network: "MTN"}, access.Operator, uuid.Nil))(w).ID
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			w.exec(`UPDATE client_secret SET revoked_at = now() WHERE waits`) // that of a request that was refused
			s, err := w.people.Access.AddSecret(w.Context(), w.subject, reason, by, uuid.Nil)
			return s.Pending, err
		},
		func(w *twoPeople) bool { return w.holds(`count(*) > 1 FROM client_secret WHERE NOT waits`) },
	},
	"plan.set": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			rows, source, _ := numbering.Shipped("NG")
			_, err := (&numbering.Service{Pool: w.pool, Now: time.Now}).Create(w.Context(), numbering.Draft{Rows: rows[1:], Source: source, By: by})
			return uuid.Nil, err
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM numbering_plan WHERE version = 2)`) },
	},
	"policy.set": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			p := value(policy.Current(w.Context(), w.pool, time.Now()))(w)
			p.SwappedHours, p.EffectiveAt, p.Note = 120, time.Time{}, reason
			_, err := (&policy.Service{Pool: w.pool, Now: time.Now}).SetBy(w.Context(), p, by, uuid.Nil)
			return uuid.Nil, err
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM policy WHERE swapped_hours = 120)`) },
	},
	"staff.role": {
		nil,
		func(w *twoPeople, by audit.Actor) (pending uuid.UUID, err error) {
			err = pg.InTx(w.Context(), w.pool, func(tx pg.Tx) error {
				pending, err = w.people.Registry.GiveRole(w.Context(), tx, w.member, "administrator", reason, by, uuid.Nil)
				return err
			})
			return pending, err
		},
		func(w *twoPeople) bool { return w.holds(`role = 'administrator' FROM account WHERE id = $1`, w.member) },
	},
	"staff.remove": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			if w.subject == uuid.Nil {
				w.subject = w.account("administrator")
			}
			return uuid.Nil, w.people.DisableAccount(w.Context(), value(w.people.Registry.Account(w.Context(), w.pool, w.subject))(w), reason, by, uuid.Nil)
		},
		func(w *twoPeople) bool {
			return w.holds(`disabled_at IS NOT NULL FROM account WHERE id = $1`, w.subject)
		},
	},
	"staff.reset_factor": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return uuid.Nil, w.people.ResetFactor(w.Context(), w.member, reason, by, uuid.Nil)
		},
		func(w *twoPeople) bool {
			return w.holds(`NOT EXISTS (SELECT FROM second_factor WHERE account_id = $1)`, w.member)
		},
	},
	"entity.people": {
		func(w *twoPeople) {
			w.exec(`INSERT INTO account (id, kind, entity_id, name, email, email_key, password_hash, created_at) VALUES (gen_random_uuid(), 'admin', $1, 'A', 'a@bank.example', 'a@bank.example', 'x', now())`, w.entity)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			who := access.Principal{Kind: access.Session, Account: by.ID, Role: access.Administrator}
			form := people.InviteForm{Email: "new@bank.example", Kind: registry.AdminAccount, Entity: w.entity}
			if by.Kind == audit.Operator {
				i, err := w.people.CreateInvited(w.Context(), form, by, uuid.Nil)
				return i.Pending, err
			}
			i, err := w.people.Invite(w.Context(), form, who, uuid.Nil)
			return i.Pending, err
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM river_job WHERE args->>'letter' = 'invitation')`)
		},
	},
	"staff.reset_password": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			_, _, err := w.people.StartReset(w.Context(), value(w.people.Registry.Account(w.Context(), w.pool, w.member))(w), false, reason, by, uuid.Nil)
			return uuid.Nil, err
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM river_job WHERE args->>'letter' = 'reset')`)
		},
	},
	"journal.erase": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			_, id, err := (&erasure.Service{Pool: w.pool, Now: time.Now}).Request(w.Context(), erasure.Order{Number: 2348035550001, Ground: erasure.Request, Reason: reason, By: by})
			return id, err
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM erasure WHERE state = 'confirmed')`) },
	},
	"document.original": {
		func(w *twoPeople) {
			w.subject = uuid.New()
			w.exec(`INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, uploader, uploader_id, created_at, state)
				VALUES ($1, $2, 'OTHER', 'OTHER', 'scan.pdf', 'application/pdf', 1, sha256('x'), 'account', $1, now(), 'clean')`, w.subject, w.entity)
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return (&document.Store{Pool: w.pool, Now: time.Now}).RequestOriginal(w.Context(), document.OriginalRequest{
				Document: w.subject, Recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", Reason: reason, By: by,
			})
		},
		func(w *twoPeople) bool {
			return w.holds(`EXISTS (SELECT FROM approval WHERE kind = 'document.original' AND state = 'given')`)
		},
	},
	"staff.lookups": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return w.people.Lookups().RequestMore(w.Context(), w.member, reason, by, uuid.Nil)
		},
		func(w *twoPeople) bool {
			used, allowed, err := w.people.Lookups().Today(w.Context(), w.member)
			if err != nil || used != 0 {
				w.Fatal(used, err)
			}
			return allowed > staffaccess.DefaultDaily
		},
	},
	"journal.who_asked": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			n := value(w.people.Registry.Region.Parse(number))(w)
			day := time.Now().UTC().Truncate(24 * time.Hour)
			return (&whoasked.Service{Pool: w.pool, Registry: w.people.Registry, Now: time.Now}).Request(w.Context(), whoasked.Request{Number: n, First: day, Last: day, Reason: reason, By: by})
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM who_asked WHERE allowed)`) },
	},
	"notice.seal": {
		nil,
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			_, pending, err := w.seal(by)
			return pending, err
		},
		func(w *twoPeople) bool { return w.holds(`EXISTS (SELECT FROM line_seal WHERE active)`) },
	},
	"notice.unseal": {
		func(w *twoPeople) {
			id, pending, err := w.seal(access.Operator)
			if err != nil || pending != uuid.Nil {
				w.Fatal(pending, err)
			}
			w.subject = id
		},
		func(w *twoPeople, by audit.Actor) (uuid.UUID, error) {
			return outbox.LiftSeal(w.Context(), w.pool, time.Now(), w.subject, reason, by)
		},
		func(w *twoPeople) bool { return w.holds(`until <= $1 FROM line_seal`, w.approvals.Now()) },
	},
}
