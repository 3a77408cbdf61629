package httpapi

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/supply"
)

const (
	maxEvents     = 1 << 20 // of the body: a thousand events, each with a note
	maxEvent      = 8 << 10 // of one event, far above what its fields take
	maxComplaints = 100     // about the events of one call
)

var errTooManyBytes = fault.New(fault.PayloadTooLarge, "The body is larger than 1 MiB. Send the events in several calls.")

type eventsResponse struct {
	Applied         int           `json:"applied"`
	NoEffect        int           `json:"noEffect"`
	Conflicts       int           `json:"conflicts"`
	Duplicates      int           `json:"duplicates"`
	Refused         int           `json:"refused"`
	SuppliedThrough *string       `json:"suppliedThrough"`
	Results         []eventResult `json:"results"`
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

// tellEvents serves POST /api/v1/lines/events. It takes no Idempotency-Key: each
// event has an id, by which it is known again.
func (a *API) tellEvents(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	body, err := readJSON(w, r, maxEvents, errTooManyBytes)
	if err != nil {
		return err
	}
	var b eventsBody
	if err := b.decode(body); err != nil {
		return err
	}
	through, ok := parseMoment(b.through)
	b.wrong.Check(ok || !b.reaches, "through", fault.BadFormat, "Write a date or a time with its offset, for example 2026-01-31 or 2026-01-31T08:00:00Z.")
	if err := b.wrong.Err(); err != nil {
		return err
	}
	receipt, err := a.Lines.Tell(ctx, speakerOf(principal(ctx)), b.events, through)
	if err != nil {
		return err
	}
	answer := eventsResponse{SuppliedThrough: stampOrNull(receipt.SuppliedThrough), Results: make([]eventResult, len(receipt.Results))}
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
	case supply.Conflict:
		e.Conflicts++
	case supply.Duplicate:
		e.Duplicates++
	case supply.Refused:
		e.Refused++
	}
}

// eventsBody is what a call brings. What is wrong with its form is a complaint
// about the call; what an event means is judged for each of them.
type eventsBody struct {
	events  []supply.Item
	through string
	reaches bool // whether through was sent
	wrong   fault.Form
}

// decode reads a body as strictly as every other; see [decode]. Its error is
// about the body as a whole.
func (b *eventsBody) decode(body []byte) error {
	if !utf8.Valid(body) {
		return errSyntax
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true)) // we name them ourselves
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
		if err := b.member(d, name, seen[name]); err != nil {
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

// member reads one member of the body, whose name has been read.
func (b *eventsBody) member(d *jsontext.Decoder, name string, again bool) error {
	if name == "events" && !again && d.PeekKind() == '[' {
		return b.list(d)
	}
	through := field{name: "through", text: &b.through, given: &b.reaches}
	value, err := d.ReadValue()
	switch {
	case err != nil:
		return errSyntax
	case again:
		b.complain(fault.Violation{Field: showable(name), Code: fault.Repeated, Message: "The field stands more than once. Send it once."})
	case name == through.name:
		return through.take(value, &b.wrong)
	case name == "events":
		b.complain(fault.Violation{Field: name, Code: fault.WrongType, Message: "The value must be a list of events, in square brackets."})
	default:
		b.complain(fault.Violation{Field: showable(name), Code: fault.Unknown, Message: "The operation has no such field. Leave it out, or correct its spelling."})
	}
	return nil
}

// list reads the events one by one; those beyond the number that is taken are
// only passed over.
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
	b.wrong.Check(n <= supply.MaxEvents, "events", fault.TooLong, "Send at most "+strconv.Itoa(supply.MaxEvents)+" events at a time.")
	return nil
}

// event reads one event, which stands at a place in the list.
func (b *eventsBody) event(value jsontext.Value, place string) error {
	if len(value) > maxEvent {
		b.complain(fault.Violation{Field: place, Code: fault.TooLong, Message: "An event may have at most 8 KiB."})
		return nil
	}
	if value.Kind() != '{' {
		b.complain(fault.Violation{Field: place, Code: fault.WrongType, Message: "Every value in the list must be an object with the fields of an event."})
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
		{name: "churnAt", text: &e.ChurnAt},
		{name: "voids", text: &e.Voids},
		{name: "note", text: &e.Note},
	})
	for _, v := range found {
		v.Field = place + "." + v.Field
		b.complain(v)
	}
	b.events = append(b.events, e)
	return err
}

// complain keeps an answer from being far larger than its request.
func (b *eventsBody) complain(v fault.Violation) {
	if len(b.wrong.Violations()) < maxComplaints {
		b.wrong.Once(v.Field, v.Code, v.Message)
	}
}
