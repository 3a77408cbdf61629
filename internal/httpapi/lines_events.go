package httpapi

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	maxEvents          = 1 << 20 // bytes of the body: a thousand events, each with a note
	maxEvent           = 8 << 10 // bytes of one event, far above what its fields need
	maxEventViolations = 100     // violations reported for one request
)

var errEventsTooLarge = fault.New(fault.PayloadTooLarge, "The body is larger than 1 MiB. Send the events in several requests.")

type eventsResponse struct {
	Applied         int           `json:"applied"`
	NoEffect        int           `json:"noEffect"`
	Waiting         int           `json:"waiting"`
	Conflicts       int           `json:"conflicts"`
	Duplicates      int           `json:"duplicates"`
	Refused         int           `json:"refused"`
	SuppliedThrough *string       `json:"suppliedThrough"` // the earliest of the topics
	Topics          topicTimes    `json:"topics"`
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
	body, err := readJSON(w, r, maxEvents, errEventsTooLarge)
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
	case supply.Conflict:
		e.Conflicts++
	case supply.Duplicate:
		e.Duplicates++
	case supply.Refused:
		e.Refused++
	}
}

func (e *eventsResponse) setTopics(all []supply.Assurance) {
	var earliest time.Time
	for _, a := range all {
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

// decode reads the body as strictly as [decode] does. The error is about the body
// as a whole.
func (b *eventsBody) decode(body []byte) error {
	if !utf8.Valid(body) {
		return errSyntax
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true)) // reported as violations
	switch d.PeekKind() {
	case '{':
	case 0:
		return errSyntax
	default:
		return errNotObject
	}
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	seen := make(map[string]bool)
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil || token.Kind() != '"' {
			return errSyntax
		}
		name := token.String()
		if err := b.field(d, name, seen[name]); err != nil {
			return err
		}
		seen[name] = true
	}
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// field reads one field of the body, whose name has been read.
func (b *eventsBody) field(d *jsontext.Decoder, name string, repeated bool) error {
	if name == "events" && !repeated && d.PeekKind() == '[' {
		return b.list(d)
	}
	through := field{name: "through", text: &b.through, present: &b.hasThrough}
	value, err := d.ReadValue()
	switch {
	case err != nil:
		return errSyntax
	case repeated:
		b.addViolation(fault.Violation{Field: printableName(name), Code: fault.Repeated, Message: fault.RepeatedField})
	case name == through.name:
		return through.set(value, &b.wrong)
	case name == "suppliedThrough" && value.Kind() == '{':
		found, err := decodeObject(value, []field{{name: "LIFECYCLE", text: &b.lifecycle}, {name: "SIM", text: &b.sim}, {name: "PORT", text: &b.port}})
		for _, v := range found {
			v.Field = name + "." + v.Field
			b.addViolation(v)
		}
		return err
	case name == "suppliedThrough":
		b.addViolation(fault.Violation{Field: name, Code: fault.WrongType, Message: "Must be a JSON object with a time for each topic."})
	case name == "events":
		b.addViolation(fault.Violation{Field: name, Code: fault.WrongType, Message: "Must be a JSON array of events."})
	default:
		b.addViolation(fault.Violation{Field: printableName(name), Code: fault.Unknown, Message: fault.UnknownField(name, []string{"events", through.name, "suppliedThrough"})})
	}
	return nil
}

// list reads the events one by one. Events over the limit are counted but not
// read.
func (b *eventsBody) list(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		value, err := d.ReadValue()
		if err != nil {
			return errSyntax
		}
		if n >= supply.MaxEvents {
			continue
		}
		if err := b.event(value, "events["+strconv.Itoa(n)+"]"); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	b.wrong.Check(n <= supply.MaxEvents, "events", fault.TooLong, "At most "+strconv.Itoa(supply.MaxEvents)+" events are allowed in a request.")
	return nil
}

// event reads one event. Place is its path in the body, such as events[3].
func (b *eventsBody) event(value jsontext.Value, place string) error {
	if len(value) > maxEvent {
		b.addViolation(fault.Violation{Field: place, Code: fault.TooLong, Message: "The event is larger than 8 KiB."})
		return nil
	}
	if value.Kind() != '{' {
		b.addViolation(fault.Violation{Field: place, Code: fault.WrongType, Message: "Must be a JSON object with the fields of an event."})
		return nil
	}
	var e supply.Item
	found, err := decodeObject(value, []field{
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
	for _, v := range found {
		v.Field = place + "." + v.Field
		b.addViolation(v)
	}
	b.events = append(b.events, e)
	return err
}

// addViolation adds a violation, up to a limit that keeps the response from being
// far larger than the request.
func (b *eventsBody) addViolation(v fault.Violation) {
	if len(b.wrong.Violations()) < maxEventViolations {
		b.wrong.Once(v.Field, v.Code, v.Message)
	}
}
