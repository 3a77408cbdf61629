package whoasked_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A search runs only after another administrator has confirmed it, for seven days, and
// only for administrators; then the number is deleted.
func TestSearchTakesTwoPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.administrator(), w.administrator()
	id := w.request(first)
	if _, err := w.run(id); !errors.Is(err, whoasked.ErrNotConfirmed) {
		t.Errorf("an unconfirmed search: %v", err)
	}
	if _, err := w.approvals.Confirm(t.Context(), id, first, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("the requester confirms: %v", err)
	}
	w.clock = w.clock.Add(6 * 24 * time.Hour)
	if _, err := w.approvals.Confirm(t.Context(), id, second, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(7*24*time.Hour - time.Second) // from the confirmation, not from the request
	if r, err := w.run(id); err != nil || r.Number != "+2348031234567" || r.Answers != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := w.Service.Run(t.Context(), id, audit.Actor{Kind: audit.Account, ID: uuid.New()}, nil); !errors.Is(err, approval.ErrNotAdministrator) {
		t.Errorf("run by nobody: %v", err)
	}
	w.clock = w.clock.Add(time.Second)
	if _, err := w.run(id); !errors.Is(err, whoasked.ErrNotAllowed) {
		t.Errorf("after seven days: %v", err)
	}
	if n, err := whoasked.DeleteExpired(t.Context(), w.Pool, w.clock); err != nil || n != 1 {
		t.Errorf("%d expired, %v", n, err)
	}
	if _, err := w.run(id); !errors.Is(err, whoasked.ErrNotAllowed) {
		t.Errorf("after its number was deleted: %v", err)
	}
	if _, err := w.run(uuid.New()); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("what was never requested: %v", err)
	}
}

// A search that was refused, or that nobody confirmed in time, does not run.
func TestRefusedAndExpiredSearchesDoNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused, expired := w.request(operator), w.request(operator)
	if _, err := w.approvals.Refuse(t.Context(), refused, "There is no case.", w.administrator(), uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(7 * 24 * time.Hour)
	for name, id := range map[string]uuid.UUID{"refused": refused, "expired": expired} {
		if _, err := w.run(id); !errors.Is(err, whoasked.ErrNotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := whoasked.DeleteExpired(t.Context(), w.Pool, w.clock); err != nil || n != 2 {
		t.Errorf("%d deleted, %v; want both", n, err)
	}
}

// A request without a good reason, with a wrong period, or with the number in its reason
// is rejected.
func TestWrongRequestsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	today, n := w.clock.Truncate(24*time.Hour), func() phone.Number { n, _ := phone.FromInt(number); return n }()
	good := whoasked.Request{Number: n, First: today.AddDate(0, 0, -9), Last: today, Reason: "Request of the holder, case DSAR-2026-001234", By: operator}
	if _, err := w.Request(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*whoasked.Request){
		"reason":          func(r *whoasked.Request) { r.Reason = "why" },
		"reason, number":  func(r *whoasked.Request) { r.Reason = "the holder of 0803 123 4567 asks" },
		"reason, digits":  func(r *whoasked.Request) { r.Reason = "the holder of +234-803-123-4567" },
		"number":          func(r *whoasked.Request) { r.Number = phone.Number{} },
		"from":            func(r *whoasked.Request) { r.First = time.Time{} },
		"to, in future":   func(r *whoasked.Request) { r.Last = today.AddDate(0, 0, 1) },
		"to, before from": func(r *whoasked.Request) { r.Last = r.First.AddDate(0, 0, -1) },
	} {
		bad := good
		change(&bad)
		_, err := w.Request(t.Context(), bad)
		if fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", field, err)
		}
	}
	if rows := w.count(`SELECT count(*) FROM who_asked`); rows != 1 {
		t.Errorf("%d searches are stored", rows)
	}
}

// The request, the confirmation and the run are in the audit trail, the run with its
// number of answers; neither the trail nor the approval has the number.
func TestSearchIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank := w.organisation("Harbour Bank", "RC 100001")
	w.append(entry(w.clock, bank, number), entry(w.clock, bank, number), entry(w.clock, bank, number+1))
	id := w.confirmed()
	for range 2 {
		if _, err := w.run(id); err != nil {
			t.Fatal(err)
		}
	}
	list, err := audit.List(t.Context(), w.Pool, audit.Filter{Subject: id})
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []audit.Action{audit.WhoAsked, audit.WhoAsked, audit.ApprovalGiven, audit.ApprovalAsked} {
		if list[i].Action != want {
			t.Errorf("entry %d is %s, want %s", i, list[i].Action, want)
		}
	}
	if got := list[0].After; got["answers"] != 2.0 || got["phoneNumber"] != "…67" || got["organisations"] != 1.0 || !strings.Contains(got["reason"].(string), "DSAR") { //nolint:forcetypeassert // a failure shows
		t.Errorf("the run: %v", got)
	}
	for _, table := range []string{"audit", "approval"} {
		if n := w.count(`SELECT count(*) FROM ` + table + ` t WHERE t::text LIKE '%8031234567%'`); n != 0 {
			t.Errorf("%d rows of %s have the number", n, table)
		}
	}
	text, err := json.Marshal(list)
	if err != nil || strings.Contains(string(text), "8031234567") {
		t.Errorf("the trail has the number: %s, %v", text, err)
	}
}

// A stolen login of the service cannot turn what two people allowed into another search: the approval is signed, and
// what differs from it does not run.
func TestChangedSearchDoesNotRun(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"number = number + 1", "first_day = first_day - 1", "last_day = last_day - 1"} {
		w := newWorld(t)
		id := w.request(w.administrator())
		if _, err := w.approvals.Confirm(t.Context(), id, w.administrator(), uuid.Nil); err != nil {
			t.Fatal(err)
		}
		w.exec("UPDATE who_asked SET " + change)
		if _, err := w.run(id); !errors.Is(err, whoasked.ErrNotAllowed) {
			t.Errorf("with %s: %v", change, err)
		}
	}
}
