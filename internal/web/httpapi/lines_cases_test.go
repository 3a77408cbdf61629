package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// lost are the responses of a route without its database, and to an invalid
// x-correlator.
func lost(name string, ask asker, into map[string]answer) map[string]answer {
	into[name+"_panic"] = answer{500, func(t *testing.T, s *stack) *http.Request { r := ask(t, s); s.Lines = nil; return r }}
	into[name+"_unavailable"] = answer{503, func(t *testing.T, s *stack) *http.Request { r := ask(t, s); s.pool.Close(); return r }}
	into[name+"_bad_correlator"] = answer{400, func(t *testing.T, s *stack) *http.Request {
		r := ask(t, s)
		r.Header.Set("X-Correlator", "with space")
		return r
	}}
	into[name+"_no_credential"] = answer{401, func(t *testing.T, s *stack) *http.Request {
		r := ask(t, s)
		r.Header.Del("Authorization")
		return r
	}}
	return into
}

func eventAnswers() map[string]answer {
	as := func(scopes []string, list func(t *testing.T, s *stack) []event) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.lineToken(t, "MTN", scopes...), eventsBody(t, list(t, s)...))
		})
	}
	says := func(body string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request { return post(eventsPath, s.operator(t), body) })
	}
	supplies := []string{"line:supply"}
	one := as(supplies, func(*testing.T, *stack) []event { return []event{happened("swap-1", knownNumber, "SIM_CHANGED", day)} })
	return lost("events", one, map[string]answer{
		"events_ok": {200, as(supplies, func(t *testing.T, s *stack) []event {
			s.told(t, s.operator(t), happened("known", freshNumber, "ASSIGNED", 9*day))
			return []event{
				happened("swap-1", knownNumber, "SIM_CHANGED", day),
				happened("known", freshNumber, "SIM_CHANGED", day),
				happened("swap-1", knownNumber, "SIM_CHANGED", day),
				happened("parked", freshNumber, "PARKED", 2*day),
				happened("again", freshNumber, "REINSTATED", day),
				happened("claim", "+2348025550001", "PORT_CLAIMED", day),
				happened("theirs", "+2348025550001", "SIM_CHANGED", day),
				happened("later", knownNumber, "SIM_CHANGED", -day),
				{"id": "bare"},
				happened("", "0803", "EXPLODED", day),
			}
		})},
		"events_ok_other_authorities": {200, as([]string{"line:port", "line:flag"}, func(*testing.T, *stack) []event {
			return []event{
				happened("port-1", knownNumber, "PORTED", day, "network", "AIRTEL"),
				happened("flag-1", swappedNumber, "FLAGGED", day, "level", "HIGH"),
				happened("swap-1", swappedNumber, "SIM_CHANGED", day),
			}
		})},
		"events_ok_waiting": {200, as(supplies, func(t *testing.T, s *stack) []event {
			s.told(t, s.operator(t), happened("end-0", knownNumber, "ENDED", 32*day, "reason", "CHURNED"),
				happened("bar-1", swappedNumber, "BARRED", 10*day, "reason", "DEBT"))
			s.told(t, s.lineToken(t, "", "line:port"), happened("port-1", swappedNumber, "PORTED", 5*day, "network", "AIRTEL"))
			return []event{
				happened("old", knownNumber, "REINSTATED", 31*day),
				happened("fix", knownNumber, "VOIDED", day, "voids", "end-0", "note", "The wrong number"),
				happened("theirs", "+2348025550001", "SIM_CHANGED", day),
				happened("end-1", swappedNumber, "ENDED", 9*day, "reason", "CHURNED"),
				happened("used", swappedNumber, "UNBARRED", 9*day),
				happened("after", swappedNumber, "SIM_CHANGED", day),
				happened("scoped", freshNumber, "BARRED", day, "reason", "DEBT", "scope", "NUMBER"),
			}
		})},
		"events_ok_topics": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.operator(t), `{"events":[{"id":"new","phoneNumber":"`+freshNumber+`","type":"ASSIGNED","effectiveAt":"`+ago(day)+`","firstHolder":true},`+
				`{"id":"swap","phoneNumber":"`+freshNumber+`","type":"SIM_CHANGED","effectiveAt":"`+ago(day)+`","firstHolder":true}],`+
				`"suppliedThrough":{"LIFECYCLE":"`+ago(2*day)+`","SIM":"`+ago(0)+`"}}`)
		})},
		"events_ok_clearing_house": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.lineToken(t, "", "line:port"), `{"through":"`+ago(0)+`"}`)
		})},
		"events_ok_nothing_to_report": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.operator(t), `{"through":"`+ago(0)+`"}`)
		})},
		"events_wrong_shapes":     {400, says(`{"events":[{"id":1,"phoneNumber":null,"type":["ENDED"],"effectiveAt":true},[],"x",null,{"id":"a","id":"b","ID":"c","colour":"red"}],"through":7,"more":1,"more":2}`)},
		"events_wrong_topics":     {400, says(`{"events":[{"firstHolder":"yes","scope":1}],"suppliedThrough":{"SIM":7,"LIFECYCLE":"yesterday","FLAGS":"2026-01-01"}}`)},
		"events_topic_of_another": {400, says(`{"suppliedThrough":{"PORT":"2026-01-01"}}`)},
		"events_no_topics":        {400, says(`{"suppliedThrough":"2026-01-01"}`)},
		"events_no_list":          {400, says(`{"events":{}}`)},
		"events_empty":            {400, says(`{}`)},
		"events_null":             {400, says(`null`)},
		"events_syntax":           {400, says(`{"events":[{]}`)},
		"events_trailing":         {400, says(`{"events":[]} {}`)},
		"events_nul":              {400, says(`{"events":[{"id":"a\u0000"}]}`)},
		"events_large_event":      {400, says(`{"events":[{"id":"a","note":"` + strings.Repeat("n", 9<<10) + `"}]}`)},
		"events_too_many":         {400, says(`{"events":[` + strings.TrimSuffix(strings.Repeat(`{},`, 1001), ",") + `]}`)},
		"events_bad_through":      {400, says(`{"events":[],"through":"yesterday"}`)},
		"events_future":           {400, says(`{"events":[],"through":"2999-01-01"}`)},
		"events_through_of_another": {400, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.lineToken(t, "", "line:flag"), `{"through":"`+ago(0)+`"}`)
		})},
		"events_no_scope": {403, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.lineToken(t, "", "line:order"), `{}`)
		})},
		"events_no_network": {409, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(eventsPath, s.lineToken(t, "NOWHERE", "line:supply"), eventsBody(t, happened("a", knownNumber, "USED", day)))
		})},
		"events_too_large": {413, says(`{"events":[{"note":"` + strings.Repeat("n", 1<<20) + `"}]}`)},
		"events_media_type": {415, inLines(func(t *testing.T, s *stack) *http.Request {
			r := post(eventsPath, s.operator(t), `{}`)
			r.Header.Set("Content-Type", "text/csv")
			return r
		})},
	})
}

func orderAnswers() map[string]answer {
	order := func(body string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			return post(ordersPath, s.lineToken(t, "", "line:order"), body)
		})
	}
	const bar = `{"phoneNumber":"` + knownNumber + `","action":"BAR","reason":"COURT","note":"Suit 12"}`
	const blacklist = `{"phoneNumber":"` + knownNumber + `","action":"BLACKLIST","note":"The case of March"}`
	confirm := func(by func(t *testing.T, s *stack, asked string) string, times int) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			asked := s.staff(t, "reviewer")
			pending := s.do(t, post(ordersPath, asked, blacklist))
			body := `{"confirms":"` + field(t, pending.Body.Bytes(), "data", "orderId") + `"}`
			for range times - 1 {
				if res := s.do(t, post(ordersPath, s.staff(t, "administrator"), body)); res.Code != http.StatusOK {
					t.Fatalf("the first to confirm heard %d: %s", res.Code, res.Body)
				}
			}
			return post(ordersPath, by(t, s, asked), body)
		})
	}
	another := func(t *testing.T, s *stack, _ string) string { t.Helper(); return s.staff(t, "administrator") }
	again := func(first, second string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			token := s.lineToken(t, "", "line:order")
			var last *http.Request
			for _, body := range []string{first, second} {
				if last != nil {
					s.do(t, last)
				}
				last = post(ordersPath, token, body)
				last.Header.Set("Idempotency-Key", "order-1")
			}
			return last
		})
	}
	return lost("orders", order(bar), map[string]answer{
		"orders_ok": {200, order(bar)},
		"orders_confirmed_bar": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			acts := s.do(t, post(ordersPath, s.staff(t, "reviewer"), bar))
			return post(ordersPath, another(t, s, ""), `{"confirms":"`+field(t, acts.Body.Bytes(), "data", "orderId")+`"}`)
		})},
		"orders_ok_staff":      {200, inLines(func(t *testing.T, s *stack) *http.Request { return post(ordersPath, s.staff(t, "administrator"), bar) })},
		"orders_pending_unbar": {200, order(`{"phoneNumber":"` + knownNumber + `","action":"UNBAR","note":"A mistake"}`)},
		"orders_pending_void": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			s.told(t, s.operator(t), happened("swap-1", knownNumber, "SIM_CHANGED", day))
			staff := s.staff(t, "reviewer")
			past := s.do(t, post(historyPath, staff, lookUp(knownNumber)))
			event, _, _ := strings.Cut(strings.SplitAfter(past.Body.String(), `"event":"`)[1], `"`)
			return post(ordersPath, staff, `{"phoneNumber":"`+knownNumber+`","action":"VOID","event":"`+event+`","note":"Never happened"}`)
		})},
		"orders_ok_scope": {200, order(`{"phoneNumber":"` + knownNumber + `","action":"BAR","reason":"COURT","scope":"HOLDER","note":"Suit 12"}`)},
		"orders_ok_confirm": {200, inLines(func(t *testing.T, s *stack) *http.Request {
			s.heldUse(t, s.operator(t))
			staff := s.staff(t, "reviewer")
			list := s.do(t, get(conflictsPath, staff))
			event, _, _ := strings.Cut(strings.SplitAfter(list.Body.String(), `"event":"`)[1], `"`)
			return post(ordersPath, staff, `{"phoneNumber":"`+knownNumber+`","action":"CONFIRM","event":"`+event+`","note":"Seen"}`)
		})},
		"orders_confirm_nothing": {400, order(`{"phoneNumber":"` + knownNumber + `","action":"CONFIRM","event":"77","scope":"HOLDER","note":"Seen"}`)},
		"orders_confirm_no_such": {400, order(`{"phoneNumber":"` + knownNumber + `","action":"CONFIRM","event":"77","note":"Seen"}`)},
		"orders_pending":         {200, order(blacklist)},
		"orders_confirmed":       {200, confirm(another, 1)},
		"orders_replayed":        {200, again(blacklist, blacklist)},
		"orders_empty":           {400, order(`{}`)},
		"orders_wrong":           {400, order(`{"phoneNumber":"0803","action":"EXPLODE","reason":"SPITE","effectiveAt":"soon","note":"` + strings.Repeat("n", 201) + `"}`)},
		"orders_wrong_types":     {400, order(`{"phoneNumber":1,"action":null,"confirms":true,"why":"x"}`)},
		"orders_both":            {400, order(`{"action":"BAR","confirms":"7"}`)},
		"orders_no_such_event":   {400, order(`{"phoneNumber":"` + knownNumber + `","action":"VOID","event":"77","note":"Never happened"}`)},
		"orders_no_scope":        {403, inLines(func(t *testing.T, s *stack) *http.Request { return post(ordersPath, s.operator(t), bar) })},
		"orders_auditor":         {403, inLines(func(t *testing.T, s *stack) *http.Request { return post(ordersPath, s.staff(t, "auditor"), bar) })},
		"orders_confirmed_alone": {403, confirm(func(_ *testing.T, _ *stack, asked string) string { return asked }, 1)},
		"orders_no_order":        {404, order(`{"confirms":"01a1d964-6e3b-7a30-9c12-6f5e4d3c2b1a"}`)},
		"orders_confirmed_twice": {409, confirm(another, 2)},
		"orders_other_body":      {409, again(bar, blacklist)},
		"orders_in_flight": {409, inLines(func(t *testing.T, s *stack) *http.Request {
			s.client = must(s.Access.CreateClient(t.Context(), access.ClientForm{Name: "Regulator", Scopes: []string{"line:order"}}, access.Operator, uuid.Nil))(t)
			holdTicket(t, s, "lines-order")
			r := post(ordersPath, s.token(t), bar)
			r.Header.Set("Idempotency-Key", "key-1")
			return r
		})},
		"orders_too_large": {413, order(`{"note":"` + strings.Repeat("n", 17<<10) + `"}`)},
		"orders_media_type": {415, inLines(func(t *testing.T, s *stack) *http.Request {
			r := post(ordersPath, s.lineToken(t, "", "line:order"), bar)
			r.Header.Set("Content-Type", "text/plain")
			return r
		})},
	})
}

// heldUse reports that a parked line was used 40 days ago, which is held.
func (s *stack) heldUse(t *testing.T, token string) {
	t.Helper()
	s.told(t, token, happened("park-1", knownNumber, "PARKED", 50*day))
	s.waits(t, token, happened("use-1", knownNumber, "USED", 40*day))
}

func conflictAnswers() map[string]answer {
	ask := func(query string, who func(t *testing.T, s *stack) string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			mtn := s.operator(t)
			s.heldUse(t, mtn)
			s.told(t, s.lineToken(t, "", "line:port"), happened("port-1", swappedNumber, "PORTED", 9*day, "network", "AIRTEL"))
			s.do(t, post(eventsPath, mtn, eventsBody(t, happened("end-1", swappedNumber, "ENDED", 20*day, "reason", "CHURNED"))))
			s.do(t, post(eventsPath, s.lineToken(t, "GLO", "line:supply"), eventsBody(t, happened("claim-1", flaggedNumber, "PORT_CLAIMED", day),
				happened("mine", flaggedNumber, "SIM_CHANGED", day))))
			return get(conflictsPath+query, who(t, s))
		})
	}
	auditor := func(t *testing.T, s *stack) string { t.Helper(); return s.staff(t, "auditor") }
	all := ask("", auditor)
	return lost("conflicts", all, map[string]answer{
		"conflicts_ok":           {200, all},
		"conflicts_ok_client":    {200, ask("", func(t *testing.T, s *stack) string { t.Helper(); return s.lineToken(t, "", "line:order") })},
		"conflicts_ok_held":      {200, ask("?held=true", auditor)},
		"conflicts_ok_network":   {200, ask("?network=GLO&held=false", auditor)},
		"conflicts_ok_last_page": {200, ask("?limit=200&cursor=4000000000000000-1", auditor)},
		"conflicts_wrong":        {400, ask("?network=NOWHERE&held=yes&limit=201&cursor=x&page=2", auditor)},
		"conflicts_bad_query":    {400, ask("?held=%zz", auditor)},
		"conflicts_no_scope":     {403, ask("", func(t *testing.T, s *stack) string { t.Helper(); return s.operator(t) })},
	})
}

func historyAnswers() map[string]answer {
	ask := func(session bool, body string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			mtn := s.operator(t)
			s.told(t, mtn, happened("new-1", freshNumber, "ASSIGNED", 29*day), happened("swap-1", freshNumber, "SIM_CHANGED", 28*day),
				happened("bar-1", freshNumber, "BARRED", 27*day, "reason", "DEBT"), happened("unbar-1", freshNumber, "UNBARRED", 26*day),
				happened("fix-1", freshNumber, "VOIDED", 26*day, "voids", "swap-1", "note", "The wrong number"),
				happened("notice-1", freshNumber, "CHURN_NOTICE", 25*day, "churnAt", ago(11*day)), happened("end-1", freshNumber, "ENDED", 12*day, "reason", "CHURNED"),
				happened("new-2", freshNumber, "ASSIGNED", 5*day))
			s.waits(t, mtn, happened("old-1", freshNumber, "PORT_RELEASED", 40*day, "network", "AIRTEL"))
			if session {
				return post(historyPath, s.staff(t, "auditor"), strings.Replace(body, "{", `{`+lookUpReason+`,`, 1))
			}
			s.told(t, s.lineToken(t, "", "line:flag"), happened("flag-1", freshNumber, "FLAGGED", day, "level", "HIGH", "note", "Seen in a case"))
			return post(historyPath, mtn, body)
		})
	}
	const fresh = `{"phoneNumber":"0803 555 0001"}`
	return lost("history", ask(true, fresh), map[string]answer{
		"history_ok_staff":    {200, ask(true, fresh)},
		"history_ok_operator": {200, ask(false, fresh)},
		"history_ok_known_at": {200, ask(true, `{"phoneNumber":"`+freshNumber+`","knownAt":"`+ago(day)+`"}`)},
		"history_ok_as_of": {200, func(t *testing.T, s *stack) *http.Request {
			s.owner(t, `UPDATE numbering_plan SET effective_at = '2020-01-01'`)
			return ask(true, `{"phoneNumber":"`+freshNumber+`","asOf":"`+ago(15*day)+`"}`)(t, s)
		}},
		"history_ok_unknown": {200, ask(true, `{"phoneNumber":"+2348035559999"}`)},
		"history_no_reason": {400, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(historyPath, s.staff(t, "auditor"), `{"phoneNumber":"+2348035559999"}`)
		})},
		"history_short_reason": {400, inLines(func(t *testing.T, s *stack) *http.Request {
			return post(historyPath, s.staff(t, "auditor"), `{"phoneNumber":"+2348035559999","reason":"why not"}`)
		})},
		"history_empty":           {400, inLines(func(t *testing.T, s *stack) *http.Request { return post(historyPath, s.staff(t, "auditor"), `{}`) })},
		"history_wrong":           {400, ask(true, `{"phoneNumber":"0803","asOf":"long ago","knownAt":7,"since":"x"}`)},
		"history_future":          {400, ask(true, `{"phoneNumber":"`+freshNumber+`","asOf":"2999-01-01"}`)},
		"history_as_of_operator":  {403, ask(false, `{"phoneNumber":"`+freshNumber+`","asOf":"2026-01-01"}`)},
		"history_known_operator":  {403, ask(false, `{"phoneNumber":"`+freshNumber+`","knownAt":"2026-01-01"}`)},
		"history_reason_operator": {403, ask(false, `{"phoneNumber":"`+freshNumber+`","reason":"Complaint 114 of 2026"}`)},
		"history_spent": {429, inLines(func(t *testing.T, s *stack) *http.Request {
			s.People.StaffLookups = 1
			staff := s.staff(t, "auditor")
			s.do(t, post(historyPath, staff, lookUp(knownNumber)))
			return post(historyPath, staff, lookUp(freshNumber))
		})},
		"history_another_network": {404, ask(false, `{"phoneNumber":"+2348025550001"}`)},
		"history_no_network": {404, inLines(func(t *testing.T, s *stack) *http.Request {
			token := s.operator(t)
			super(t, s, `UPDATE client SET network = ''`)
			return post(historyPath, token, fresh)
		})},
		"history_landline":  {422, ask(true, `{"phoneNumber":"+2342012345678"}`)},
		"history_too_large": {413, ask(true, `{"phoneNumber":"`+strings.Repeat("0", 17<<10)+`"}`)},
		"history_media_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := ask(true, fresh)(t, s)
			r.Header.Del("Content-Type")
			return r
		}},
	})
}

// eventList returns n events about n numbers.
func eventList(n int) []event {
	list := make([]event, n)
	for i := range list {
		list[i] = happened("event-"+strconv.Itoa(i), "+234803555"+strconv.Itoa(1000+i), "SIM_CHANGED", day)
	}
	return list
}
