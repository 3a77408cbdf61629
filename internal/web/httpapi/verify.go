package httpapi

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
)

var (
	errNotMobile = fault.New(fault.NotApplicable, "The number is not a mobile number of this country, so it cannot be verified.").With(fault.Violation{
		Field: "phoneNumber", Code: fault.NotAllowed, Message: "Must be a mobile number of this country.",
	})
	errSinceRange = fault.New(fault.OutOfRange, "The time in since must not be in the future, nor before 1970.")
)

// earliestYear is the earliest year of a since. No line is older.
const earliestYear = 1970

// verifyNumber serves POST /api/v1/phone/api/phone-numbers/verify.
func (a *API) verifyNumber(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := a.readVerifyRequest(r)
	if err != nil {
		return err
	}
	logOf(ctx).number = q.Number
	who := principal(ctx)
	q.Entity, q.Key, q.Mode, q.Purpose, q.PurposeText, q.Correlator, q.Grace = who.Entity, who.ID, who.Mode, who.Purpose, who.PurposeText, correlator(ctx), who.Grace
	if err := a.checkMandate(&q, &who); err != nil {
		return err
	}
	if err := a.admitRequest(&q, &who); err != nil {
		return err
	}
	answer, err := a.Verifier.Verify(ctx, q)
	a.recordOutcome(&q, &answer, err)
	if err != nil {
		return err
	}
	// From here on the record's id is the request's id, so that one id leads from
	// the response to the journal and to the log.
	id := answer.RequestID.String()
	w.Header()["X-Request-Id"] = []string{id}
	if hint := a.Verifier.Hint(&q, &answer); hint != "" {
		w.Header().Set("Lineproof-Hint", hint)
	}
	l := logOf(ctx)
	l.record, l.answer = id, answer.Status
	sendAnswer(w, r, q.RawNumber, &answer, id, q.ExternalID)
	return nil
}

// checkMandate refuses a request on behalf of a principal for whom the caller has no
// mandate.
func (a *API) checkMandate(q *verify.Request, who *access.Principal) error {
	if q.OnBehalfOf == "" {
		return nil
	}
	return a.Access.CheckMandate(who, q.OnBehalfOf)
}

// sendAnswer sends the answer about one number.
func sendAnswer(w http.ResponseWriter, r *http.Request, sent string, answer *verify.Answer, id, externalID string) {
	body := append(make([]byte, 0, 320+len(answer.ExtraJSON)), `{"status":"Success","data":`...)
	body = appendExternalID(appendAnswer(body, sent, answer, id), externalID)
	send(w, r, http.StatusOK, append(body, `,"statusCode":"200"}`...))
}

// appendAnswer appends the JSON of an answer. It does not use package json
// because this response is sent ten thousand times a second.
func appendAnswer(b []byte, sent string, a *verify.Answer, id string) []byte {
	b = appendText(append(b, `{"phoneNumber":`...), sent) // as the caller sent it
	b = append(append(b, `,"status":"`...), a.Status...)
	b = append(append(b, `","requestId":"`...), id...)
	b = appendText(append(b, `","mobileNetwork":`...), a.Network)
	b = a.At.UTC().AppendFormat(append(b, `,"verificationTimestamp":"`...), timestamp)
	b = append(b, '"')
	if len(a.ExtraJSON) > len(`{}`) {
		b = append(append(b, ','), a.ExtraJSON[1:len(a.ExtraJSON)-1]...) // the other fields, as they are recorded
	}
	return append(a.Receipt.Append(`,"receipt":`, b), '}')
}

// appendText appends s as a JSON string.
func appendText(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic(err) // the decoder refuses invalid UTF-8, and the numbering plan has none
	}
	return b
}

// readVerifyRequest reads the request, without its caller.
func (a *API) readVerifyRequest(r *http.Request) (q verify.Request, err error) {
	body, err := readJSON(r)
	if err != nil {
		return q, err
	}
	var more options
	var external externalID
	var found []fault.Violation
	if sent, ok := fastPhoneNumber(body); ok {
		q.RawNumber = sent
	} else if found, err = decodeObject(body, append(more.fields(), field{name: "phoneNumber", text: &q.RawNumber}, external.field())); err != nil {
		return q, err
	}
	var wrong fault.Form
	number, err := a.Region.ParseMobile(q.RawNumber)
	wrong.Check(q.RawNumber != "", "phoneNumber", fault.Required, "Enter the phone number to verify.")
	wrong.Check(q.RawNumber == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat, phoneNumberHint)
	q.Number = number
	zone, zoneErr := a.dayZone(r.Context(), more.since)
	if zoneErr != nil {
		return q, zoneErr
	}
	external.check(&wrong, "externalId")
	q.ExternalID = external.text
	more.check(&wrong, &q, zone, a.latestSince(r), a.Verifier.Promises != nil)
	switch violations := mergeViolations(found, wrong.Err()); {
	case violations != nil:
		return q, violations
	case err != nil:
		return q, errNotMobile
	}
	return q, nil
}

// latestSince is the latest time that since may have: now, and for a test key the
// latest time of its test clock.
func (a *API) latestSince(r *http.Request) time.Time {
	if principal(r.Context()).Mode == access.Test {
		return a.Verifier.Now().Add(sandbox.MaxAhead)
	}
	return a.Verifier.Now()
}

// phoneNumberHint is the message for something that is not a phone number.
const phoneNumberHint = "Must be a phone number, for example +2348031234567 or 08031234567."

// timeHint is the message for something that is not a time.
const timeHint = "Must be a date or a time with its offset, for example 2026-01-31 or 2026-01-31T08:00:00Z."

// options are the optional fields of a verify request, as they are sent.
type options struct {
	since    string
	hasSince bool // since is present
	include  []string

	onBehalfOf    string
	hasOnBehalfOf bool
}

func (o *options) fields() []field {
	return []field{{name: "since", text: &o.since, present: &o.hasSince}, {name: "include", list: &o.include}, {name: "onBehalfOf", text: &o.onBehalfOf, present: &o.hasOnBehalfOf}}
}

// check puts the options into q. Latest is the latest since; receipts says whether there are any.
func (o *options) check(wrong *fault.Form, q *verify.Request, zone *time.Location, latest time.Time, receipts bool) {
	for _, what := range o.include {
		switch what {
		case "signals":
			q.Include.Signals = true
		case "coverage":
			q.Include.Coverage = true
		case "dates":
			q.Include.Dates = true
		case "receipt":
			q.Include.Receipt = true
			if !receipts {
				wrong.Once("include", fault.NotAllowed, "This service has no public log, so there are no receipts. Leave out receipt.")
			}
		default:
			wrong.Once("include", fault.NotAllowed, "The allowed values are signals, coverage, dates and receipt.")
		}
	}
	if o.hasOnBehalfOf {
		q.OnBehalfOf = strings.TrimSpace(o.onBehalfOf)
		wrong.Check(fault.IsPrintable(q.OnBehalfOf, access.MaxPrincipal), "onBehalfOf", fault.BadFormat, "Must be 1 to 100 printable characters: the principal as the mandate names it.")
	}
	if o.hasSince {
		q.Since = checkSince(wrong, "since", o.since, zone, latest)
	}
}

// checkSince reads a since, which is no year before earliestYear and not after latest.
func checkSince(wrong *fault.Form, name, text string, zone *time.Location, latest time.Time) time.Time {
	at, ok := parseTimeIn(text, zone)
	wrong.Check(ok, name, fault.BadFormat, timeHint)
	wrong.CheckRange(!ok || at.In(zone).Year() >= earliestYear && !at.After(latest), name, errSinceRange, "Must not be in the future, nor before 1970.")
	if ok && line.HasFraction(text) {
		// Changes are known to the second, and which came first within one is not: the changes of
		// this second are included.
		at = at.Add(-time.Second)
	}
	return at
}

// dayZone returns the time zone in which a date among the texts is a day: that of
// the policy. It reads the policy only if there is a date.
func (a *API) dayZone(ctx context.Context, texts ...string) (*time.Location, error) {
	if !slices.ContainsFunc(texts, func(text string) bool { _, ok := web.ParseDate(text); return ok }) {
		return time.UTC, nil
	}
	current, _, err := a.Verifier.Lines.Current(ctx, a.Access.Pool, a.Verifier.Now())
	if err != nil {
		return nil, err
	}
	return current.Zone(), nil
}

// parseTimeIn reads a time that is asked about. A date means the start of that day
// in the zone.
func parseTimeIn(text string, zone *time.Location) (time.Time, bool) {
	if day, ok := web.ParseDate(text); ok {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone).UTC(), true
	}
	return web.ParseTime(text)
}

// fastPhoneNumber reads the body that nearly every request has: an object with
// the number and nothing else, in printable ASCII. Every other body, and every
// body that is wrong, is left to the decoder; a fuzz test checks that both read
// the same.
func fastPhoneNumber(body []byte) (string, bool) {
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
