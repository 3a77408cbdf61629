package server_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// month is a regulator with three people, of whom one is on leave.
type month struct {
	t         *testing.T
	clock     time.Time
	lines     *supply.Service
	registry  *registry.Registry
	approvals *approval.Service

	present [2]audit.Actor
	numbers int // given out so far
}

// The people work from Monday to Friday. What one of them requests as the last thing of
// a week, the other confirms as the first thing of the next: nobody waits longer.
var (
	fridayEvening = time.Date(2026, 10, 30, 17, 0, 0, 0, time.UTC)
	mondayMorning = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	longestWait   = mondayMorning.Sub(fridayEvening)
)

func newMonth(t *testing.T) *month {
	t.Helper()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	m := &month{t: t, clock: fridayEvening.AddDate(0, 0, -40)}
	now, pool := func() time.Time { return m.clock }, pgtest.NewAnyTime(t)
	m.lines = &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Now: now}
	m.registry = &registry.Registry{Pool: pool, Region: region, Passwords: secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64), PasswordMin: 8, Now: now}
	m.approvals = &approval.Service{Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: server.Effects(m.people(), m.lines), Now: now}
	rows, source, _ := numbering.Shipped("NG")
	long := func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	if _, err = (&numbering.Service{Pool: pool, Now: long}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	m.present = [2]audit.Actor{m.staff("administrator"), m.staff("administrator")}
	m.staff("administrator") // is on leave, and is not needed
	return m
}

// people returns the service of people, with its clock.
func (m *month) people() *people.People {
	return &people.People{Pool: m.lines.Pool, Registry: m.registry, Access: &access.Service{Pool: m.lines.Pool, Now: m.lines.Now}, Now: m.lines.Now}
}

// staff inserts a founder: an account that nobody alone has created.
func (m *month) staff(role string) audit.Actor {
	m.t.Helper()
	id := uuid.New()
	m.exec(`INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', $2, 'S', $3, $3, now())`, id, role, id.String())
	return audit.Actor{Kind: audit.Account, ID: id}
}

func (m *month) exec(statement string, args ...any) {
	m.t.Helper()
	if _, err := m.lines.Pool.Exec(m.t.Context(), statement, args...); err != nil {
		m.t.Fatal(err)
	}
}

// is returns what a statement says.
func (m *month) is(statement string, args ...any) (yes bool) {
	m.t.Helper()
	if err := m.lines.Pool.QueryRow(m.t.Context(), statement, args...).Scan(&yes); err != nil {
		m.t.Fatal(err)
	}
	return yes
}

var mtn = supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Client: uuid.New(), Actor: audit.Actor{Kind: audit.Client, ID: uuid.New()}}

// report reports one event of MTN about each number, now.
func (m *month) report(kind string, numbers ...string) {
	m.t.Helper()
	for part := range slices.Chunk(numbers, supply.MaxEvents) {
		items := make([]supply.Item, len(part))
		for i, n := range part {
			items[i] = supply.Item{ID: uuid.NewString(), PhoneNumber: n, Type: kind, EffectiveAt: m.clock.Format(time.RFC3339)}
			if kind == "ENDED" {
				items[i].Reason = "CHURNED"
			}
		}
		if _, err := m.lines.ApplyEvents(m.t.Context(), mtn, items); err != nil {
			m.t.Fatal(err)
		}
	}
}

// unknown returns numbers of MTN about which nothing was reported.
func (m *month) unknown(count int) (numbers []string) {
	for range count {
		m.numbers++
		numbers = append(numbers, fmt.Sprintf("+234803%07d", m.numbers))
	}
	return numbers
}

// assigned returns numbers of MTN that have a holder.
func (m *month) assigned(count int) []string {
	numbers := m.unknown(count)
	m.report("ASSIGNED", numbers...)
	return numbers
}

// status returns the status of a number now, while everything is supplied.
func (m *month) status(number string) line.Status {
	m.t.Helper()
	through := []supply.Assurance{{Topic: line.TopicLifecycle, Through: m.clock}, {Topic: line.TopicSIM, Through: m.clock}}
	if _, err := m.lines.ApplyEvents(m.t.Context(), mtn, nil, through...); err != nil {
		m.t.Fatal(err)
	}
	n, err := m.lines.Region.ParseMobile(number)
	if err != nil {
		m.t.Fatal(err)
	}
	lookup, err := m.lines.Lines.Lookup(m.t.Context(), m.lines.Pool, n, m.clock)
	if err != nil {
		m.t.Fatal(err)
	}
	return lookup.View(m.clock).Status
}

func (m *month) seq(number string, kind line.Kind) (seq string) {
	m.t.Helper()
	n, _ := m.lines.Region.ParseMobile(number)
	err := m.lines.Pool.QueryRow(m.t.Context(), `SELECT max(seq)::text FROM line_event WHERE number = $1 AND kind = $2`, n.Int(), int16(kind)).Scan(&seq)
	if err != nil {
		m.t.Fatal(err)
	}
	return seq
}

// action is one piece of work: a person requests it, another confirms it, and then it
// holds.
type action struct {
	request func(by audit.Actor) (id uuid.UUID, err error)
	confirm func(by audit.Actor, id uuid.UUID) error
	holds   func() bool
}

func (m *month) orders() *order.Service { return &order.Service{Supply: m.lines} }

// order is an action that is an order about a number.
func (m *month) order(f order.Form, holds func() bool) action {
	f.Note = "case 12 of 2026"
	return action{
		request: func(by audit.Actor) (uuid.UUID, error) {
			o, err := m.orders().Create(m.t.Context(), supply.Supplier{Actor: by}, f)
			return o.ID, err
		},
		confirm: func(by audit.Actor, id uuid.UUID) error {
			_, err := m.orders().Confirm(m.t.Context(), supply.Supplier{Actor: by}, id)
			return err
		},
		holds: holds,
	}
}

// approval is an action that is requested as an approval.
func (m *month) approval(request func(by audit.Actor) (uuid.UUID, error), holds func() bool) action {
	return action{request: request, holds: holds, confirm: func(by audit.Actor, id uuid.UUID) error {
		_, err := m.approvals.Confirm(m.t.Context(), id, by, uuid.Nil)
		return err
	}}
}

// two gives an order by both people, before the month.
func (m *month) two(f order.Form) {
	m.t.Helper()
	a := m.order(f, nil)
	id, err := a.request(m.present[0])
	if err == nil {
		err = a.confirm(m.present[1], id)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.clock = m.clock.Add(time.Hour)
}

// snapshot imports a snapshot of MTN with these numbers, and returns it in the state
// that it reaches by itself.
func (m *month) snapshot(numbers ...string) supply.Import {
	m.t.Helper()
	var content strings.Builder
	content.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	for _, n := range numbers {
		content.WriteString(n + ",2024-02-03,,ACTIVE,\n")
	}
	im, err := m.lines.Begin(m.t.Context(), mtn, supply.ImportForm{Kind: linefile.Snapshot, AsOf: m.clock}, "cli")
	if err != nil {
		m.t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content.String())), nil }
	if im, err = m.lines.Run(m.t.Context(), im.ID, supply.Source{Open: open}, nil); err != nil {
		m.t.Fatal(err)
	}
	m.clock = m.clock.Add(time.Hour)
	return im
}

func (m *month) importIs(im supply.Import, state string) bool {
	now, err := m.lines.Import(m.t.Context(), im.ID)
	return err == nil && now.State == state
}

// walks has a piece of work for every action of the table in which a second person has a
// say. Each prepares what it needs, before the month.
var walks = map[approval.Kind]func(m *month) action{
	order.KindBlacklist: func(m *month) action {
		n := m.assigned(1)[0]
		return m.order(order.Form{PhoneNumber: n, Action: "BLACKLIST"}, func() bool { return m.status(n) == line.Blacklisted })
	},
	order.KindRelease: func(m *month) action {
		n := m.assigned(1)[0]
		m.two(order.Form{PhoneNumber: n, Action: "BLACKLIST"})
		return m.order(order.Form{PhoneNumber: n, Action: "RELEASE"}, func() bool { return m.status(n) != line.Blacklisted })
	},
	order.KindUnbar: func(m *month) action {
		n := m.assigned(1)[0]
		m.two(order.Form{PhoneNumber: n, Action: "BAR", Reason: "COURT"})
		return m.order(order.Form{PhoneNumber: n, Action: "UNBAR"}, func() bool { return m.status(n) != line.Barred })
	},
	order.KindVoid: func(m *month) action {
		n := m.assigned(1)[0]
		m.clock = m.clock.Add(time.Hour)
		m.report("ENDED", n)
		return m.order(order.Form{PhoneNumber: n, Action: "VOID", Event: m.seq(n, line.End)}, func() bool { return m.status(n) != line.Quarantined })
	},
	order.KindBackdated: func(m *month) action {
		n := m.assigned(1)[0]
		since := m.clock.AddDate(0, 0, 3).Format(time.RFC3339)
		return m.order(order.Form{PhoneNumber: n, Action: "BAR", Reason: "FRAUD", EffectiveAt: since}, func() bool { return m.status(n) == line.Barred })
	},
	order.KindConfirmShare: func(m *month) action {
		all := m.assigned(1001)
		m.clock = m.clock.Add(time.Hour)
		m.report("ENDED", all...)
		n := all[1000]
		return m.order(order.Form{PhoneNumber: n, Action: "CONFIRM", Event: m.seq(n, line.End)}, func() bool { return m.status(n) == line.Quarantined })
	},
	order.KindBar: func(m *month) action {
		n := m.assigned(1)[0]
		return m.order(order.Form{PhoneNumber: n, Action: "BAR", Reason: "COURT"}, func() bool {
			defer func(now time.Time) { m.clock = now }(m.clock)
			m.clock = m.clock.AddDate(0, 0, 30) // it lasts
			return m.status(n) == line.Barred
		})
	},
	order.KindBarAgain: func(m *month) action {
		m.clock = fridayEvening.Add(-order.Lapse - 2*time.Hour)
		n := m.assigned(1)[0]
		m.clock = m.clock.Add(time.Hour)
		alone := m.order(order.Form{PhoneNumber: n, Action: "BAR", Reason: "COURT"}, nil)
		value(alone.request(audit.Actor{Kind: audit.Account, ID: uuid.New()}))(m.t)
		m.clock = fridayEvening // the bar has lapsed
		return m.order(order.Form{PhoneNumber: n, Action: "BAR", Reason: "COURT"}, func() bool { return m.status(n) == line.Barred })
	},
	order.ConfirmImport: func(m *month) action {
		m.snapshot(m.unknown(20)...)
		held := m.snapshot(m.unknown(1)...)
		return m.approval(func(by audit.Actor) (uuid.UUID, error) {
			return m.orders().ConfirmHeld(m.t.Context(), order.ImportDecision{Import: held.ID, Reason: "Because", By: by})
		}, func() bool { return m.importIs(held, supply.Applying) })
	},
	order.VoidImport: func(m *month) action {
		wrong := m.snapshot(m.unknown(20)...)
		return m.approval(func(by audit.Actor) (uuid.UUID, error) {
			return m.orders().VoidSnapshot(m.t.Context(), order.ImportDecision{Import: wrong.ID, Reason: "Because", By: by})
		}, func() bool { return m.importIs(wrong, supply.Voiding) })
	},
	order.AnnounceChange: func(m *month) action {
		return m.approval(func(by audit.Actor) (uuid.UUID, error) {
			return m.orders().Announce(m.t.Context(), order.MassChange{Network: "MTN", Lines: 5000, From: m.clock, Until: m.clock.AddDate(0, 0, 7), Reason: "Because", By: by})
		}, func() bool { return m.is(`SELECT count(*) = 1 FROM supply_announced WHERE lines = 5000`) })
	},
	registry.RestoreRevoked: func(m *month) action {
		id := uuid.New()
		m.exec(`INSERT INTO entity (id, name, cac, status, status_reason, asks, supplies, document_required, created_at) VALUES ($1, 'Bank', 'RC 1', 'Approved', '', true, false, false, now())`, id) //nolint:dupword // SQL
		if _, err := m.registry.Revoke(m.t.Context(), id, "Because", m.present[0], uuid.Nil); err != nil {
			m.t.Fatal(err)
		}
		return m.approval(func(by audit.Actor) (uuid.UUID, error) {
			change, err := m.registry.Restore(m.t.Context(), id, "Because", by, uuid.Nil)
			return change.Pending, err
		}, func() bool { return m.is(`SELECT status = 'Approved' FROM entity WHERE id = $1`, id) })
	},
	registry.GiveStaffRole: func(m *month) action {
		auditor := m.staff("auditor")
		return m.approval(func(by audit.Actor) (id uuid.UUID, err error) {
			err = pg.InTx(m.t.Context(), m.lines.Pool, func(tx pg.Tx) error {
				id, err = m.registry.GiveRole(m.t.Context(), tx, auditor.ID, "reviewer", "Because", by, uuid.Nil)
				return err
			})
			return id, err
		}, func() bool { return m.is(`SELECT role = 'reviewer' FROM account WHERE id = $1`, auditor.ID) })
	},
	erasure.Confirm: func(m *month) action {
		var order uuid.UUID
		return m.approval(func(by audit.Actor) (id uuid.UUID, err error) {
			order, id, err = (&erasure.Service{Pool: m.lines.Pool, Now: m.lines.Now}).Request(m.t.Context(), erasure.Order{Number: 2348030000001, Ground: erasure.Court, Reason: "Case 12", By: by})
			return id, err
		}, func() bool { return m.is(`SELECT state <> 'waiting' FROM erasure WHERE id = $1`, order) })
	},
	whoasked.Kind: func(m *month) action {
		number, _ := m.lines.Region.ParseMobile("+2348030000001")
		var asked uuid.UUID
		return m.approval(func(by audit.Actor) (id uuid.UUID, err error) {
			id, err = (&whoasked.Service{Pool: m.lines.Pool, Registry: m.registry, Now: m.lines.Now}).Request(m.t.Context(), whoasked.Request{
				Number: number, First: m.clock.AddDate(0, 0, -7), Last: m.clock.AddDate(0, 0, -1), Reason: "Request of the holder, case 12", By: by,
			})
			asked = id
			return id, err
		}, func() bool { return m.is(`SELECT state = 'given' FROM approval WHERE id = $1`, asked) })
	},
}

// workOf returns the work of an action. What is not about lines is the work of a case of the
// matrix of two people.
func (m *month) workOf(a approval.Action) action {
	m.t.Helper()
	if prepare := walks[a.Kind]; prepare != nil {
		return prepare(m)
	}
	c, ok := actionCases[a.Kind]
	if !ok {
		m.t.Fatalf("there is no walk for %s (%s)", a.Kind, a.What)
	}
	w := newTwoPeople(m.t, c.prepare)
	m.present = [2]audit.Actor{w.ada, w.bola}
	w.approvals.Now = func() time.Time { return time.Now().Add(m.clock.Sub(fridayEvening)) }
	return action{
		request: func(by audit.Actor) (uuid.UUID, error) { return pendingOf(c.request(w, by)) },
		confirm: func(by audit.Actor, id uuid.UUID) error { return w.confirm(a, id, by) },
		holds:   func() bool { return c.done(w) },
	}
}

// A regulator with three people, of whom one is on leave, gets a month's work done: every
// action in which a second person has a say is requested by one of the other two as the
// last thing of a week and confirmed by the other as the first thing of the next. Nothing
// expires or lapses in between, and nothing but a bar acts before. The table of actions
// decides what there is to do, so that a new action needs a walk.
func TestThreePeopleOneOnLeaveDoAMonthsWork(t *testing.T) {
	t.Parallel()
	known := map[approval.Kind]bool{}
	for _, a := range approval.Actions {
		if known[a.Kind] = true; a.Rule == approval.OnePerson {
			t.Logf("%-22s no wait: one person", a.Kind)
			continue
		}
		t.Run(string(a.Kind), func(t *testing.T) {
			t.Parallel()
			m := newMonth(t)
			work := m.workOf(a)
			m.clock = fridayEvening
			id, err := work.request(m.present[0])
			if err != nil || id == uuid.Nil {
				t.Fatalf("requested on Friday evening: %v, %v", id, err)
			}
			if acts := work.holds(); acts && a.Rule == approval.TwoPeople {
				t.Error("it acts before a second person has confirmed it")
			}
			if err := work.confirm(m.present[0], id); err == nil {
				t.Error("one person confirmed it alone")
			}
			m.clock = mondayMorning
			if err := work.confirm(m.present[1], id); err != nil || !work.holds() {
				t.Fatalf("confirmed on Monday morning: %v, it holds: %v", err, work.holds())
			}
			wait := longestWait
			if a.Rule == approval.ConfirmLater {
				wait = 0 // it acted in the meantime
			}
			t.Logf("longest wait %s", wait)
		})
	}
	for kind := range walks {
		if !known[kind] {
			t.Errorf("there is a walk for %s, which is not in the table", kind)
		}
	}
}
