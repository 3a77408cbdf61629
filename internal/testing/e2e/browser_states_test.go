package e2e_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/logtest"
)

// plantStates makes what leads to pages that are seldom needed: a second version of the
// policy, people whose two-factor authentication is locked, and a client and an
// organisation that are suspended.
func (g *browserData) plantStates(t *testing.T) {
	t.Helper()
	rules := &policy.Service{Pool: g.pool, Now: time.Now}
	next := must(rules.Last(t.Context()))(t)
	next.NoticeDays, next.EffectiveAt, next.Note = next.NoticeDays+1, time.Time{}, names["long"]
	must(rules.Set(t.Context(), next))(t) // which takes two people once there are staff
	g.exec(t, `INSERT INTO second_factor (account_id, sealed, wrong_codes, locked_at, confirmed_at, created_at)
		SELECT id, '', 100, now(), now() - interval '1 day', current_timestamp - interval '2 days' FROM account WHERE entity_id = $1 AND name = 'Colleague 3'`, g.bank.ID)
	lockedOut := g.guest(t, "locked out", "staff", "auditor", uuid.Nil, false).account
	g.exec(t, `UPDATE second_factor SET wrong_codes = 100, locked_at = now() WHERE account_id = $1`, lockedOut)
	g.paused = must(g.keeper.CreateClient(t.Context(), access.ClientForm{Name: names["yoruba"], Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil))(t).ID
	if err := g.keeper.SuspendClient(t.Context(), g.paused, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	g.exec(t, `UPDATE entity SET status = 'Suspended', status_reason = 'A direction', status_since = now() WHERE id = $1`, g.entities[4])
}

// prepare gives roles what only they find, and names the pages that show them another
// state than the first page of that shape.
func (g *browserData) prepare(t *testing.T, roles []role) {
	t.Helper()
	var waiting uuid.UUID
	if err := g.pool.QueryRow(t.Context(), `SELECT id FROM file_job WHERE entity_id = $1 AND state = 'waiting'`, g.bank.ID).Scan(&waiting); err != nil {
		t.Fatal(err)
	}
	for i := range roles {
		r := &roles[i]
		switch r.Name {
		case "admin":
			r.Also = []string{"/portal/files/" + waiting.String()}
			g.notify(t, r.account, people.DocumentRejected, message.Content{About: names["solid"], Detail: names["long"], Path: "/portal/documents"})
		case "telco":
			g.notify(t, r.account, people.FileHeld, message.Content{About: "COBALT", Path: "/portal/supply"})
		case "administrator":
			bank := "/portal/desk/entities/" + g.bank.ID.String()
			r.Also = []string{
				"/portal/desk/clients/" + g.paused.String(), "/portal/desk/clients/" + g.limited.ID.String(), "/portal/desk/entities/" + g.entities[4].String(), bank + "/people", bank + "/keys", bank + "/mandates",
			}
			g.notify(t, r.account, people.ApprovalWaits, message.Content{Detail: names["long"], Path: "/portal/desk/approvals"})
			g.requestPlan(t, r.account)
		}
	}
}

// notify stores messages to an account.
func (g *browserData) notify(t *testing.T, account uuid.UUID, kind people.EmailKind, c message.Content) {
	t.Helper()
	err := pg.InTx(t.Context(), g.pool, func(tx pg.Tx) error {
		_, err := message.Add(t.Context(), tx, string(kind), c, time.Now(), account, account)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// requestPlan lets an administrator request a new version of the numbering plan, which a
// second person has to confirm.
func (g *browserData) requestPlan(t *testing.T, administrator uuid.UUID) {
	t.Helper()
	rows := must(numbering.ReadCSV(strings.NewReader(`prefix,network,name,allocated,withdrawn
234803,COBALT,Cobalt,2001-01-01,
234802,AMBER,Amber,2001-01-01,2030-01-01
234805,INDIGO,Indigo Wireless,2001-01-01,
234914,SIENNA,Sienna,2026-03-01,
`)))(t)
	_, err := (&numbering.Service{Pool: g.pool, Now: time.Now}).Create(t.Context(), numbering.Draft{
		Rows: rows, Source: names["long"], By: audit.Actor{Kind: audit.Account, ID: administrator},
	})
	if _, ok := errors.AsType[*approval.WaitsError](err); !ok {
		t.Fatalf("a new version of the plan waits for nobody: %v", err)
	}
}

// startPublic runs a server with a public log. The newest answer to the bank has a receipt,
// and one of its requests was refused.
func (g *browserData) startPublic(t *testing.T) (p *instance, base string) {
	t.Helper()
	_, file := logtest.NewKeyFile(t, logOrigin)
	p, base = startAt(t, g.fixture, "LINEPROOF_LOG_ORIGIN="+logOrigin, "LINEPROOF_LOG_KEY="+file)
	answer := requestID(t, p, g.key.Text.Reveal(), "+2348037700001", http.StatusOK)
	refused := requestID(t, p, g.key.Text.Reveal(), "0803", http.StatusBadRequest)
	g.await(t, "the refused request is kept", `SELECT count(*) > 0 FROM refused_request WHERE id = $1`, refused)
	download(t, p.public, receiptOf(answer), g.key.Text.Reveal()) // waits until the public log covers it
	return p, base
}
