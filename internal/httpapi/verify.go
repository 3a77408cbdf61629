package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/phone"
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

type verifyResponse struct {
	PhoneNumber           string         `json:"phoneNumber"` // in the form in which it was sent
	Status                string         `json:"status"`
	RequestID             string         `json:"requestId"`
	MobileNetwork         string         `json:"mobileNetwork"`
	VerificationTimestamp string         `json:"verificationTimestamp"`
	Extra                 jsontext.Value `json:",embed"` //nolint:staticcheck // what else was said, as the record has it; staticcheck does not know this encoder's options
}

// verifyNumber serves POST /api/v1/phone/api/phone-numbers/verify.
func (a *API) verifyNumber(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := a.readQuestion(w, r)
	if err != nil {
		return err
	}
	who := access.PrincipalFrom(ctx)
	q.Entity, q.Key, q.Mode, q.Purpose, q.Correlator = who.Entity, who.ID, who.Mode, who.Purpose, correlator(ctx)
	answer, err := a.Verifier.Ask(ctx, q)
	if err != nil {
		return err
	}
	// From here on the record's id is the request's id, so that one id leads from
	// the answer to the journal and to the log.
	w.Header().Set("X-Request-Id", answer.RequestID.String())
	add(ctx, slog.String("record_id", answer.RequestID.String()))
	return a.respond(w, r, verifyResponse{
		PhoneNumber: q.Sent, Status: string(answer.Status), RequestID: answer.RequestID.String(),
		MobileNetwork: answer.Network, VerificationTimestamp: stamp(answer.At), Extra: jsontext.Value(answer.Said),
	})
}

// readQuestion reads what is asked, of whichever caller.
func (a *API) readQuestion(w http.ResponseWriter, r *http.Request) (q verify.Question, err error) {
	var since string
	var asked bool
	var include []string
	found, err := decode(w, r, field{name: "phoneNumber", text: &q.Sent}, field{name: "since", text: &since, given: &asked}, field{name: "include", list: &include})
	if err != nil {
		return q, err
	}
	var wrong fault.Form
	number, err := a.Region.ParseMobile(q.Sent)
	wrong.Check(q.Sent != "", "phoneNumber", fault.Required, "Give the phone number to ask about.")
	wrong.Check(q.Sent == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat,
		"Write a phone number, for example +2348031234567 or 08031234567.")
	q.Number = number
	for _, what := range include {
		switch what {
		case "signals":
			q.Include.Signals = true
		case "coverage":
			q.Include.Coverage = true
		default:
			wrong.Once("include", fault.NotAllowed, "The list may have signals and coverage, and nothing else.")
		}
	}
	beyond := false
	if asked {
		var ok bool
		q.Since, ok = parseMoment(since)
		wrong.Check(ok, "since", fault.BadFormat, "Write a date or a time with its offset, for example 2026-01-31 or 2026-01-31T08:00:00Z.")
		beyond = ok && (q.Since.Before(firstSince) || q.Since.After(a.Verifier.Now()))
		wrong.Check(!beyond, "since", fault.NotAllowed, "Name a moment that has passed, and no earlier than 1970.")
	}
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
