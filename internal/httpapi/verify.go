package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/verify"
)

var (
	errNotMobile = fault.New(fault.NotApplicable, "The number is not a mobile number of this country, so the service has nothing to say about it.").With(fault.Violation{
		Field: "phoneNumber", Code: fault.NotAllowed, Message: "Ask about a mobile number of this country.",
	})
	errSinceRange = fault.New(fault.OutOfRange, "The service can only tell what has changed since a moment that has passed, and no earlier than 1970.")
)

// firstSince is the earliest moment since which changes can be asked for. No
// line is older.
var firstSince = time.Unix(0, 0)

// verifyNumber serves POST /api/v1/phone/api/phone-numbers/verify.
func (a *API) verifyNumber(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := a.readQuestion(w, r)
	if err != nil {
		return err
	}
	who := principal(ctx)
	q.Entity, q.Key, q.Mode, q.Purpose, q.Correlator, q.Grace = who.Entity, who.ID, who.Mode, who.Purpose, correlator(ctx), who.Grace
	if err := a.admitQuestion(&q, who.Limits); err != nil {
		return err
	}
	answer, err := a.Verifier.Ask(ctx, q)
	a.learn(&q, &answer, err)
	if err != nil {
		return err
	}
	// From here on the record's id is the request's id, so that one id leads from
	// the answer to the journal and to the log.
	id := answer.RequestID.String()
	w.Header()["X-Request-Id"] = []string{id}
	notesOf(ctx).record = id
	sendAnswer(w, r, q.Sent, &answer, id)
	return nil
}

// sendAnswer sends one answer in its envelope.
func sendAnswer(w http.ResponseWriter, r *http.Request, sent string, answer *verify.Answer, id string) {
	body := append(make([]byte, 0, 320+len(answer.Said)), `{"status":"Success","data":`...)
	send(w, r, http.StatusOK, append(appendAnswer(body, sent, answer, id), `,"statusCode":"200"}`...))
}

// appendAnswer writes the data of an answer. It is written by hand because this
// is the one answer that is given ten thousand times a second.
func appendAnswer(b []byte, sent string, a *verify.Answer, id string) []byte {
	b = appendText(append(b, `{"phoneNumber":`...), sent) // in the form in which it was sent
	b = append(append(b, `,"status":"`...), a.Status...)
	b = append(append(b, `","requestId":"`...), id...)
	b = appendText(append(b, `","mobileNetwork":`...), a.Network)
	b = a.At.UTC().AppendFormat(append(b, `,"verificationTimestamp":"`...), timestamp)
	b = append(b, '"')
	if len(a.Said) > len(`{}`) {
		b = append(append(b, ','), a.Said[1:len(a.Said)-1]...) // what else was said, as the record has it
	}
	return append(b, '}')
}

// appendText writes s as a JSON string.
func appendText(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic(err) // the decoder lets no invalid UTF-8 in, and the plan has none
	}
	return b
}

// readQuestion reads what is asked, of whichever caller.
func (a *API) readQuestion(w http.ResponseWriter, r *http.Request) (q verify.Question, err error) {
	body, err := readJSON(w, r, maxJSON, errTooLarge)
	if err != nil {
		return q, err
	}
	var more options
	var found []fault.Violation
	if sent, ok := soleNumber(body); ok {
		q.Sent = sent
	} else if found, err = decodeObject(body, append(more.fields(), field{name: "phoneNumber", text: &q.Sent})); err != nil {
		return q, err
	}
	var wrong fault.Form
	number, err := a.Region.ParseMobile(q.Sent)
	wrong.Check(q.Sent != "", "phoneNumber", fault.Required, "Give the phone number to ask about.")
	wrong.Check(q.Sent == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat, wayToWrite)
	q.Number = number
	beyond := more.check(&wrong, &q, a.latest(r))
	switch complaints := merge(found, wrong.Err()); {
	case beyond && len(found) == 0 && len(wrong.Violations()) == 1:
		return q, errSinceRange.With(wrong.Violations()...)
	case complaints != nil:
		return q, complaints
	case err != nil:
		return q, errNotMobile
	}
	return q, nil
}

// latest is the latest moment since which changes can be asked for: the present,
// and for a key for tests whatever its test clock can show.
func (a *API) latest(r *http.Request) time.Time {
	if principal(r.Context()).Mode == access.Test {
		return a.Verifier.Now().Add(rehearsal.MaxAhead)
	}
	return a.Verifier.Now()
}

// wayToWrite is what callers are told about a number that is none.
const wayToWrite = "Write a phone number, for example +2348031234567 or 08031234567."

// options are what may be asked beyond a number, as they are sent.
type options struct {
	since   string
	asked   bool // there is a since
	include []string
}

func (o *options) fields() []field {
	return []field{{name: "since", text: &o.since, given: &o.asked}, {name: "include", list: &o.include}}
}

// check puts the options into a question. It reports whether the moment that is
// asked about can be read and is one about which nothing can be told.
func (o *options) check(wrong *fault.Form, q *verify.Question, now time.Time) (beyond bool) {
	for _, what := range o.include {
		switch what {
		case "signals":
			q.Include.Signals = true
		case "coverage":
			q.Include.Coverage = true
		default:
			wrong.Once("include", fault.NotAllowed, "The list may have signals and coverage, and nothing else.")
		}
	}
	if o.asked {
		var ok bool
		q.Since, ok = parseMoment(o.since)
		wrong.Check(ok, "since", fault.BadFormat, "Write a date or a time with its offset, for example 2026-01-31 or 2026-01-31T08:00:00Z.")
		beyond = ok && (q.Since.Before(firstSince) || q.Since.After(now))
		wrong.Check(!beyond, "since", fault.NotAllowed, "Name a moment that has passed, and no earlier than 1970.")
	}
	return beyond
}

// soleNumber reads the body that nearly every question has: an object with the
// number and nothing else, in plain characters. Everything else is left to the
// decoder, and so is every complaint; a test holds the two to the same answer.
func soleNumber(body []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"phoneNumber":`))
	if !ok {
		return "", false
	}
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) < len(`""}`) || rest[0] != '"' {
		return "", false
	}
	for i, c := range rest[1:] {
		switch {
		case c == '"':
			return string(rest[1 : i+1]), string(bytes.TrimRight(rest[i+2:], " \r\n")) == "}"
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

// timeForm is the form of a time in RFC 3339. Package time takes more than that.
var timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseMoment reads a time of RFC 3339, whose fraction of a second is dropped,
// or a date, which is its midnight in UTC.
func parseMoment(text string) (at time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, true
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC().Truncate(time.Second), err == nil && timeForm.MatchString(text)
}
