package httpapi

import (
	"bytes"
	"encoding/json/jsontext"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	maxEvents = 1 << 20 // bytes of the body: a thousand events, each with a note
	maxEvent  = 8 << 10 // bytes of one event, far above what its fields need
)

var errEventsTooLarge = fault.New(fault.PayloadTooLarge, "The body is larger than 1 MiB. Send the events in several requests.")

type eventsResponse struct {
	Applied         int           `json:"applied"`
	NoEffect        int           `json:"noEffect"`
	Waiting         int           `json:"waiting"`
	Duplicates      int           `json:"duplicates"`
	Refused         int           `json:"refused"`
	SuppliedThrough *string       `json:"suppliedThrough"` // the earliest of the topics
	Topics          topicTimes    `json:"topics"`
	Doubtful        []string      `json:"doubtful"` // topics whose statements are disbelieved
	Results         []eventResult `json:"results"`
}

// topicTimes is up to when each topic was supplied.
type topicTimes struct {
	Lifecycle *string `json:"LIFECYCLE,omitzero"`
	SIM       *string `json:"SIM,omitzero"`
	Port      *string `json:"PORT,omitzero"`
}

type eventResult struct {
	ID      string `json:"id"`
	Result  string `json:"result"`
	Field   string `json:"field,omitzero"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message,omitzero"`
}

func resultOf(r supply.Result) eventResult {
	return eventResult{ID: r.ID, Result: r.Outcome, Field: r.Field, Reason: r.Reason, Message: r.Message}
}

// reportEvents serves POST /api/v1/lines/events. It takes no Idempotency-Key: each
// event has an id, by which a repeated event is recognised.
func (a *API) reportEvents(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	body, err := readJSON(r)
	if err != nil {
		return err
	}
	var b eventsBody
	if err := b.decode(body); err != nil {
		return err
	}
	supplier := supplierOf(principal(ctx))
	assured := b.assurances(supplier, a.Lines.Now())
	if err := b.wrong.Err(); err != nil {
		return err
	}
	receipt, err := a.Lines.ApplyEvents(ctx, supplier, b.events, assured...)
	if err != nil {
		return err
	}
	answer := eventsResponse{Results: make([]eventResult, len(receipt.Results))}
	answer.setTopics(receipt.SuppliedThrough)
	for i, result := range receipt.Results {
		answer.Results[i] = resultOf(result)
		answer.count(result.Outcome)
	}
	add(ctx, slog.Int("events", len(b.events)), slog.Int("refused", answer.Refused))
	return a.respond(w, r, answer)
}

func (e *eventsResponse) count(outcome string) {
	switch outcome {
	case supply.Applied:
		e.Applied++
	case supply.NoEffect:
		e.NoEffect++
	case supply.Waiting:
		e.Waiting++
	case supply.Duplicate:
		e.Duplicates++
	case supply.Refused:
		e.Refused++
	}
}

func (e *eventsResponse) setTopics(all []supply.Assurance) {
	var earliest time.Time
	e.Doubtful = []string{}
	for _, a := range all {
		if a.Doubtful {
			e.Doubtful = append(e.Doubtful, a.Topic.String())
		}
		switch a.Topic {
		case line.TopicLifecycle:
			e.Topics.Lifecycle = stampOrNull(a.Through)
		case line.TopicSIM:
			e.Topics.SIM = stampOrNull(a.Through)
		case line.TopicPort:
			e.Topics.Port = stampOrNull(a.Through)
		}
		if earliest.IsZero() || a.Through.Before(earliest) {
			earliest = a.Through
		}
	}
	e.SuppliedThrough = stampOrNull(earliest)
}

// assurances returns how far the reports reach, by topic. The plain through means
// every topic that the supplier reports about.
func (b *eventsBody) assurances(by supply.Supplier, now time.Time) (all []supply.Assurance) {
	authorities := map[line.Topic]line.Authority{
		line.TopicLifecycle: line.Operator, line.TopicSIM: line.Operator, line.TopicPort: line.ClearingHouse,
	}
	add := func(name, text string, topics ...line.Topic) {
		if text == "" {
			return
		}
		at, ok := web.ParseTime(text)
		b.wrong.Check(ok, name, fault.BadFormat, timeHint)
		b.wrong.Check(!ok || !at.After(now), name, fault.NotAllowed, "Must be a time that has passed.")
		b.wrong.Check(slices.Contains(by.Authorities, authorities[topics[0]]), name, fault.NotAllowed,
			"An operator sends LIFECYCLE and SIM, and the clearing house PORT. Leave the others out.")
		for _, t := range topics {
			all = append(all, supply.Assurance{Topic: t, Through: at})
		}
	}
	own := []line.Topic{line.TopicLifecycle, line.TopicSIM}
	if !slices.Contains(by.Authorities, line.Operator) && slices.Contains(by.Authorities, line.ClearingHouse) {
		own = []line.Topic{line.TopicPort}
	}
	b.wrong.Check(!b.hasThrough || b.through != "", "through", fault.BadFormat, timeHint)
	add("through", b.through, own...)
	add("suppliedThrough.LIFECYCLE", b.lifecycle, line.TopicLifecycle)
	add("suppliedThrough.SIM", b.sim, line.TopicSIM)
	add("suppliedThrough.PORT", b.port, line.TopicPort)
	return all
}

// eventsBody is the body of a request. A wrong format fails the whole request;
// the content of each event is checked on its own by package supply.
type eventsBody struct {
	events     []supply.Item
	through    string
	hasThrough bool // whether through was sent

	lifecycle, sim, port string // suppliedThrough, by topic

	wrong fault.Form
}

// decode reads the body. The error is about the body as a whole.
func (b *eventsBody) decode(body []byte) error {
	found, err := decodeObject(body, []field{
		{name: "events", value: b.list},
		{name: "through", text: &b.through, present: &b.hasThrough},
		{name: "suppliedThrough", value: b.topics},
	})
	b.wrong.Add(found...)
	return err
}

// topics reads the object suppliedThrough.
func (b *eventsBody) topics(body *bodyReader, value jsontext.Value, wrong *fault.Form) error {
	const name = "suppliedThrough"
	if value.Kind() != '{' {
		wrong.Check(false, name, fault.WrongType, "Must be a JSON object with a time for each topic.")
		return nil
	}
	found, err := body.object(value, []field{{name: "LIFECYCLE", text: &b.lifecycle}, {name: "SIM", text: &b.sim}, {name: "PORT", text: &b.port}})
	addItem(wrong, name, found...)
	return err
}

// list reads the events one by one. Events over the limit are counted but not
// read.
func (b *eventsBody) list(body *bodyReader, value jsontext.Value, wrong *fault.Form) error {
	if value.Kind() != '[' {
		wrong.Check(false, "events", fault.WrongType, "Must be a JSON array of events.")
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		item, err := d.ReadValue()
		if err != nil {
			return errSyntax
		}
		if n >= supply.MaxEvents {
			continue
		}
		if err := b.event(body, item, "events["+strconv.Itoa(n)+"]", wrong); err != nil {
			return err
		}
	}
	wrong.Check(n <= supply.MaxEvents, "events", fault.TooLong, "At most "+strconv.Itoa(supply.MaxEvents)+" events are allowed in a request.")
	return nil
}

// event reads one event. Place is its path in the body, such as events[3].
func (b *eventsBody) event(body *bodyReader, value jsontext.Value, place string, wrong *fault.Form) error {
	if len(value) > maxEvent {
		addItem(wrong, place, fault.Violation{Code: fault.TooLong, Message: "The event is larger than 8 KiB."})
		return nil
	}
	if value.Kind() != '{' {
		addItem(wrong, place, fault.Violation{Code: fault.WrongType, Message: "Must be a JSON object with the fields of an event."})
		return nil
	}
	var e supply.Item
	found, err := body.object(value, []field{
		{name: "id", text: &e.ID},
		{name: "phoneNumber", text: &e.PhoneNumber},
		{name: "type", text: &e.Type},
		{name: "effectiveAt", text: &e.EffectiveAt},
		{name: "network", text: &e.Network},
		{name: "level", text: &e.Level},
		{name: "reason", text: &e.Reason},
		{name: "scope", text: &e.Scope},
		{name: "firstHolder", flag: &e.FirstHolder},
		{name: "churnAt", text: &e.ChurnAt},
		{name: "voids", text: &e.Voids},
		{name: "note", text: &e.Note},
	})
	addItem(wrong, place, found...)
	b.events = append(b.events, e)
	return err
}
