package jobs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// notifyTest has an operator with its client, a bank, and staff of every role.
type notifyTest struct {
	pool, owner                  *pgxpool.Pool
	telco, bank                  uuid.UUID
	telcoAdmin, bankAdmin        uuid.UUID
	administrator, reviewer, aud uuid.UUID
}

func newNotifyTest(t *testing.T) *notifyTest {
	t.Helper()
	ctx := t.Context()
	n := &notifyTest{pool: pgtest.New(t), telco: uuid.New(), bank: uuid.New()}
	n.owner = pgtest.Open(t, n.pool.Config().ConnString(), "")
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Service{Pool: n.pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	client := uuid.New()
	n.exec(t, `INSERT INTO client (id, name, scopes, network, vouches, created_at) VALUES ($1, 'MTN', '{line:supply}', 'MTN', false, now())`, client)
	n.exec(t, `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, client_id, created_at) VALUES ($1, 'Harmattan Telecom', 'RC1', 'Approved', false, true, false, $2, now())`, n.telco, client)
	n.exec(t, `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at) VALUES ($1, 'Harbour Bank', 'RC2', 'Approved', true, false, true, now())`, n.bank)
	n.telcoAdmin, n.bankAdmin = n.account(t, "admin", "", &n.telco), n.account(t, "admin", "", &n.bank)
	n.account(t, "member", "", &n.telco)
	n.administrator, n.reviewer, n.aud = n.account(t, "staff", "administrator", nil), n.account(t, "staff", "reviewer", nil), n.account(t, "staff", "auditor", nil)
	return n
}

func (n *notifyTest) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := n.owner.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (n *notifyTest) account(t *testing.T, kind, role string, entity *uuid.UUID) uuid.UUID {
	t.Helper()
	id := uuid.New()
	n.exec(t, `INSERT INTO account (id, kind, entity_id, name, email, email_key, role, password_hash, created_at) VALUES ($1, $2, $3, 'Ada', $4, $4, nullif($5, ''), 'x', now())`,
		id, kind, entity, id.String()+"@people.example", role)
	return id
}

// told runs the job until so many e-mails are queued and then once more, and returns what
// each account was told in the portal: kind, subject, detail and page.
func (n *notifyTest) told(t *testing.T, s *supply.Service, emails int) map[uuid.UUID][]string {
	t.Helper()
	ctx := t.Context()
	queued := make(chan people.Email, 100)
	c, err := jobs.New(&jobs.Jobs{
		Pool: n.pool, Access: &access.Service{Pool: n.pool, Now: time.Now}, Answers: &idempotency.Store{Pool: n.pool, Now: time.Now},
		People: &people.People{Pool: n.pool, Now: time.Now, QueueEmail: func(_ context.Context, _ pg.Tx, e people.Email) error {
			queued <- e
			return nil
		}},
		Ahead: func(int) {}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Documents: emptyDocuments(t, n.pool), Removed: func(string, int) {},
		Tally: &tally.Tally{Pool: n.pool, Now: time.Now}, Counted: func(time.Time) {}, Supply: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Insert(ctx, jobs.NotifyWork{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = jobs.Stop(context.WithoutCancel(ctx), c) }()
	for range emails {
		select {
		case <-queued:
		case <-time.After(30 * time.Second):
			t.Fatal("an e-mail is missing")
		}
	}
	// What was told is not told again.
	if _, err := n.owner.Exec(ctx, `DELETE FROM river_job WHERE kind = 'notify_work' AND state = 'completed'`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Insert(ctx, jobs.NotifyWork{}, nil); err != nil {
		t.Fatal(err)
	}
	waitForNotifyWork(t, n.pool)
	if len(queued) > 0 {
		t.Errorf("told again: %+v", <-queued)
	}
	rows, err := n.owner.Query(ctx, `SELECT account_id, kind, about, detail, path FROM message`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[uuid.UUID][]string{}
	for rows.Next() {
		var to uuid.UUID
		var kind, about, detail, path string
		if err := rows.Scan(&to, &kind, &about, &detail, &path); err != nil {
			t.Fatal(err)
		}
		all[to] = append(all[to], kind, about, detail, path)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A file that is held is told to the admins of its operator and to the staff who decide,
// once, with the reason and the page on which each of them acts. Auditors, members and
// other organisations are not told.
func TestHeldFileIsToldToItsSenderAndToDeciders(t *testing.T) {
	t.Parallel()
	n := newNotifyTest(t)
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	s := emptySupply(n.pool)
	s.Region = region
	telco := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Actor: access.Operator}
	var held supply.Import
	for i, count := range []int{40, 20} {
		var b strings.Builder
		b.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
		for k := range count {
			fmt.Fprintf(&b, "+234803000%04d,2024-02-03,NEVER,ACTIVE,\n", k)
		}
		if held, err = s.Begin(t.Context(), telco, supply.ImportForm{Kind: linefile.Snapshot, AsOf: time.Now().Add(time.Duration(i-2) * time.Hour)}, "cli"); err != nil {
			t.Fatal(err)
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }
		if held, err = s.Run(t.Context(), held.ID, supply.Source{Open: open}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if held.State != supply.Held || held.Reason == "" {
		t.Fatalf("the file is %s: %s", held.State, held.Reason)
	}
	staff := []string{"file_held", "snapshot of MTN", held.Reason, "/portal/desk/supply/imports/" + held.ID.String()}
	want := map[uuid.UUID][]string{
		n.administrator: staff, n.reviewer: staff, n.telcoAdmin: {"file_held", "snapshot of MTN", held.Reason, "/portal/supply/imports/" + held.ID.String()},
	}
	if diff := cmp.Diff(want, n.told(t, s, len(want))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A document that staff reject is told to the admins of its organisation, once, with what
// the reviewer wrote and the page of the document. Nobody else is told.
func TestRejectedDocumentIsToldToItsOrganisation(t *testing.T) {
	t.Parallel()
	n := newNotifyTest(t)
	document := uuid.New()
	for id, state := range map[uuid.UUID]string{document: "rejected", uuid.New(): "accepted"} {
		n.exec(t, `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at, reason, note, moved_at)
			VALUES ($1, $2, 'CAC_CERTIFICATE', 'CAC_CERTIFICATE', 'cac.pdf', 'application/pdf', 1, sha256('a'), $3, 'account', gen_random_uuid(), now(), CASE WHEN $3 = 'rejected' THEN 'unreadable' ELSE '' END, 'Page 2 is missing.', now())`,
			id, n.bank, state)
	}
	want := map[uuid.UUID][]string{n.bankAdmin: {"document_rejected", "CAC_CERTIFICATE", "Page 2 is missing.", "/portal/documents/" + document.String()}}
	if diff := cmp.Diff(want, n.told(t, emptySupply(n.pool), len(want))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// However many documents are rejected at once, each is told, once. A document is new when it
// is rejected, whenever it was uploaded, and one that was rejected days ago is not told again.
func TestManyRejectedDocumentsAreAllTold(t *testing.T) {
	t.Parallel()
	n := newNotifyTest(t)
	const many = 450
	reject := func(count int, before string) {
		n.exec(t, `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at, reason, note, moved_at)
			SELECT gen_random_uuid(), $1, 'CAC_CERTIFICATE', 'CAC_CERTIFICATE', 'cac.pdf', 'application/pdf', 1, sha256('a'), 'rejected', 'account', gen_random_uuid(), now() - '30 days'::interval,
				'unreadable', 'Page 2 is missing.', now() - $3::interval FROM generate_series(1, $2)`, n.bank, count, before)
	}
	reject(many, "1 hour") // all at the same time
	reject(300, "3 days")
	told := n.told(t, emptySupply(n.pool), many)
	pages := map[string]bool{}
	for i := 3; i < len(told[n.bankAdmin]); i += 4 {
		pages[told[n.bankAdmin][i]] = true
	}
	if len(told) != 1 || len(told[n.bankAdmin]) != 4*many || len(pages) != many {
		t.Errorf("%d accounts are told; the admin of %d documents, of which %d are different; want %d", len(told), len(told[n.bankAdmin])/4, len(pages), many)
	}
}
