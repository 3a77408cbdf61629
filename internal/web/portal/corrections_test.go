package portal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// corrected tells an organisation that an answer would be different now, as package impact
// does, and returns the id of the event.
func (s *stack) corrected(t testing.TB, e registry.Entity, request uuid.UUID, number string, version int) (event string) {
	t.Helper()
	n := must(s.Region.ParseMobile(number))(t)
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		told := []feed.Event{{Type: impact.EventType, Number: n, Time: s.Now(), Data: map[string]any{
			"askedAt": "2026-11-01T08:00:00.000Z", "differs": []string{"status", "changedSince"}, "effectiveAt": "2026-10-30T09:30:00Z", "phoneNumber": number, "requestId": request.String(),
			"said": map[string]any{"mobileNetwork": "MTN", "status": "NORMAL"}, "toldAt": "2026-11-02T10:00:00.000Z", "wouldSay": map[string]any{"mobileNetwork": "<b>GLO", "status": "SWAPPED"},
		}}}
		all := map[feed.Owner][]feed.Event{{Entity: e.ID, Mode: "live"}: told}
		if err := feed.AppendAll(t.Context(), tx, all); err != nil {
			return err
		}
		event = told[0].ID
		_, err := tx.Exec(t.Context(), `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at, digest) VALUES ($1, $2, $3, $4, now(), decode(repeat('00', 32), 'hex'))`, request, version, e.ID, event)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// A bank sees which answers would be different now: what it was told, what is known now and
// since when. It acknowledges those that it chooses, of its own alone, and its home leads
// there until it has.
func TestCorrectedAnswersAreAcknowledged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, stranger := s.as(t, "member"), s.as(t, "stranger")
	const at = "/portal/corrections"
	wantPage(t, s.get(t, at, member.session), http.StatusOK, "Nothing to acknowledge")
	request := uuid.Must(uuid.NewV7())
	s.corrected(t, s.bank, request, "+2348030000001", 1)
	event := s.corrected(t, s.bank, request, "+2348030000001", 2)
	foreign := s.corrected(t, s.other, uuid.Must(uuid.NewV7()), "+2348030000009", 1)
	must(s.pool.Exec(t.Context(), `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at) VALUES (gen_random_uuid(), 1, $1, '1-999', now() - interval '1 hour')`, s.bank.ID))(t)

	page := s.get(t, at, member.session)
	wantPage(t, page, http.StatusOK, "+2348030000001", ">NORMAL<", ">SWAPPED<", ", 09:30", ", 10:00", "&lt;b&gt;GLO", "other changes since your date", `value="`+event+`"`, "/portal/journal/"+request.String(), "Not kept here",
		`name="one" value="`+event+`"`)
	if body := page.Body.String(); strings.Contains(body, "+2348030000009") || strings.Count(body, `type="checkbox" name="event"`) != 2 {
		t.Error("the page has another organisation's, or an answer twice")
	}
	wantPage(t, s.get(t, "/portal/home", member.session), http.StatusOK, `href="`+at+`"`, "2 past answers would be different today")

	wantGo(t, s.post(t, at, stranger.session, url.Values{"event": {event}}), at)
	wantGo(t, s.post(t, at, member.session, url.Values{}), at)
	if n := s.acknowledged(t); n != 0 {
		t.Fatalf("%d answers are acknowledged by nobody or by another organisation", n)
	}
	wantGo(t, s.post(t, at, member.session, url.Values{"one": {"no such"}, "event": {event}}), at)
	if n := s.acknowledged(t); n != 0 {
		t.Fatalf("the button of one row acknowledged %d others", n)
	}
	wantGo(t, s.post(t, at, member.session, url.Values{"event": {event, foreign, strings.Repeat("9", 90), "no such"}, "show": {"all"}}), at+"?show=all")
	if n := s.acknowledged(t); n != 1 {
		t.Errorf("%d answers are acknowledged, want the chosen one", n)
	}
	list := s.trail(t, audit.NoticesAcknowledged)
	if len(list) != 1 || list[0].Actor.ID != member.id || list[0].Entity != s.bank.ID || !strings.Contains(fmt.Sprint(list[0].After["eventIds"]), event) {
		t.Errorf("the trail has %+v", list)
	}
	wantGo(t, s.post(t, at, member.session, url.Values{"event": {event}}), at)
	if again := s.trail(t, audit.NoticesAcknowledged); len(again) != 1 {
		t.Errorf("what was acknowledged before has %d entries", len(again))
	}
	if body := s.get(t, at, member.session).Body.String(); strings.Contains(body, request.String()) {
		t.Error("what is acknowledged is still to be acknowledged")
	}
	wantPage(t, s.get(t, at+"?show=all", member.session), http.StatusOK, request.String(), "Acknowledged")
	for _, cursor := range []string{"x", "1.x", "-1." + request.String()} {
		wantPage(t, s.get(t, at+"?show=all&after="+cursor, member.session), http.StatusOK, request.String())
	}
	wantPage(t, s.get(t, at+"?show=all&after=1."+request.String(), member.session), http.StatusOK, "First page")
	wantPage(t, s.get(t, at, s.as(t, "auditor").session), http.StatusNotFound)
}

// acknowledged counts answers: event ids of two organisations can be the same.
func (s *stack) acknowledged(t testing.TB) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(DISTINCT request_id) FROM impact_notice WHERE acknowledged_at IS NOT NULL`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
