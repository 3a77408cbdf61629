package httpapi

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const (
	maxNumbers         = 1_000     // in one batch
	maxBatchJSON       = 64 << 10  // bytes of a batch of strings
	maxObjectBatchJSON = 256 << 10 // bytes of a batch with objects
)

var (
	errBatchTooLarge   = fault.New(fault.PayloadTooLarge, "The body is too large. The limit for a batch is 64 KiB.")
	errObjectsTooLarge = fault.New(fault.PayloadTooLarge, "The body is too large. The limit for a batch is 64 KiB, and 256 KiB if its numbers are objects.")
	errNumberMalformed = fault.ErrInvalid.With(fault.Violation{Field: "phoneNumber", Code: fault.BadFormat, Message: phoneNumberHint})
)

// verifyBatch serves POST /api/v1/phone/api/phone-numbers/verify-batch. Each
// number has its own answer, with its own record, or its own problem. The status
// is 200 if the body is well formed.
func (a *API) verifyBatch(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	numbers, common, err := a.readBatch(r)
	if err != nil {
		return err
	}
	who := principal(ctx)
	if err := a.checkMandate(&common, &who); err != nil {
		return err
	}
	if err := a.chargeMore(w, r, len(numbers)-1); err != nil {
		return a.orStopped(&who, err)
	}
	common.Entity, common.Key, common.Mode, common.Grace = who.Entity, who.ID, who.Mode, who.Grace
	common.Purpose, common.PurposeText, common.Correlator = who.Purpose, who.PurposeText, correlator(ctx)
	problems := make([]error, len(numbers))
	var requests []verify.Request
	for i := range numbers {
		q := common
		q.RawNumber, q.ExternalID = numbers[i].sent, numbers[i].external.text
		if numbers[i].hasSince {
			q.Since = numbers[i].sinceAt
		}
		switch q.Number, err = a.Region.ParseMobile(q.RawNumber); {
		case errors.Is(err, phone.ErrMalformed):
			problems[i] = errNumberMalformed
		case err != nil:
			problems[i] = errNotMobile
		default:
			requests = append(requests, q)
		}
	}
	if requests, err = a.admitBatch(requests, &who, problems); err != nil {
		return err
	}
	var answers []verify.Answer
	var errs []error
	if len(requests) > 0 {
		answers, errs, err = a.Verifier.VerifyAll(ctx, requests)
		if a.recordBatch(requests, answers, errs); err != nil {
			return err
		}
		if hint := a.Verifier.BatchHint(requests, answers, errs); hint != "" {
			w.Header().Set("Lineproof-Hint", hint)
		}
	}
	body := append(make([]byte, 0, 256*len(numbers)), `{"status":"Success","data":{"results":[`...)
	answered, statuses := 0, make(map[line.Status]int64, len(line.Statuses))
	for i := range numbers {
		sent := &numbers[i]
		if i > 0 {
			body = append(body, ',')
		}
		problem := problems[i]
		if problem == nil {
			if problem = errs[0]; problem == nil {
				answered++
				statuses[answers[0].Status]++
				body = appendAnswer(body, sent.sent, &answers[0], answers[0].RequestID.String())
				body = appendExternalID(body, sent.external.text)
			}
			answers, errs = answers[1:], errs[1:]
		}
		if problem != nil {
			if body, err = appendProblem(body, sent, faults.Of(problem), requestID(ctx).String()); err != nil {
				return err
			}
		}
	}
	logOf(ctx).answers = statuses
	add(ctx, slog.Int("numbers", len(numbers)), slog.Int("answered", answered))
	send(w, r, http.StatusOK, append(body, `]},"statusCode":"200"}`...))
	return nil
}

// readBatch reads the numbers and the options that apply to each of them.
func (a *API) readBatch(r *http.Request) (numbers []batchNumber, common verify.Request, err error) {
	body, err := readJSON(r)
	if err != nil {
		return nil, common, err
	}
	var more options
	var list batchNumbers
	found, err := decodeObject(body, append(more.fields(), field{name: "phoneNumbers", value: list.decode}))
	switch {
	case err != nil:
		return nil, common, err
	case len(body) > maxBatchJSON && !list.objects:
		return nil, common, errBatchTooLarge
	}
	numbers = list.all
	dates := make([]string, 0, 1+len(numbers))
	dates = append(dates, more.since)
	for i := range numbers {
		dates = append(dates, numbers[i].since)
	}
	zone, err := a.dayZone(r.Context(), dates...)
	if err != nil {
		return nil, common, err
	}
	var wrong fault.Form
	wrong.Check(len(numbers) > 0, "phoneNumbers", fault.Required, "Enter 1 to "+strconv.Itoa(maxNumbers)+" phone numbers.")
	latest := a.latestSince(r)
	more.check(&wrong, &common, zone, latest, a.Verifier.Promises != nil)
	for i := range numbers {
		if numbers[i].object && len(found)+len(wrong.Violations()) < maxListViolations {
			numbers[i].check(&wrong, placeOf(i), zone, latest)
		}
	}
	return numbers, common, mergeViolations(found, wrong.Err())
}

// batchNumber is one number of a batch: a string, or an object with options of its
// own.
type batchNumber struct {
	sent string

	object    bool
	hasNumber bool
	since     string
	hasSince  bool
	sinceAt   time.Time
	external  externalID
}

// batchNumbers is the list of a batch.
type batchNumbers struct {
	all     []batchNumber
	objects bool // one of them is an object
}

// placeOf returns the path of a number in the body, such as phoneNumbers[3].
func placeOf(i int) string { return "phoneNumbers[" + strconv.Itoa(i) + "]" }

// decode reads the numbers. It reports violations of the form; check those of the
// content.
func (b *batchNumbers) decode(body *bodyReader, value jsontext.Value, wrong *fault.Form) error {
	const name = "phoneNumbers"
	if value.Kind() != '[' {
		wrong.Check(false, name, fault.WrongType, "Must be a JSON array of phone numbers.")
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		item, err := d.ReadValue()
		if err != nil {
			return errSyntax
		}
		if i == maxNumbers {
			wrong.Check(false, name, fault.TooLong, "At most "+strconv.Itoa(maxNumbers)+" values are allowed.")
			return nil
		}
		n := batchNumber{}
		switch item.Kind() {
		case '"':
			n.sent, err = textValue(item, name, wrong)
		case '{':
			b.objects = true
			err = n.decode(body, item, placeOf(i), wrong)
		default:
			addItem(wrong, placeOf(i), fault.Violation{Code: fault.WrongType, Message: "Must be a JSON string, or an object with phoneNumber."})
		}
		if err != nil {
			return err
		}
		b.all = append(b.all, n)
	}
	return nil
}

// decode reads an object. Place is its path in the body.
func (n *batchNumber) decode(body *bodyReader, value jsontext.Value, place string, wrong *fault.Form) error {
	n.object = true
	found, err := body.object(value, []field{
		{name: "phoneNumber", text: &n.sent, present: &n.hasNumber},
		{name: "since", text: &n.since, present: &n.hasSince},
		n.external.field(),
	})
	addItem(wrong, place, found...)
	return err
}

// check reports what is wrong with the fields of an object. A field that could not
// be read has been reported.
func (n *batchNumber) check(wrong *fault.Form, place string, zone *time.Location, latest time.Time) {
	wrong.Check(n.hasNumber, place+".phoneNumber", fault.Required, "Missing field.")
	if n.hasSince {
		n.sinceAt = checkSince(wrong, place+".since", n.since, zone, latest)
	}
	n.external.check(wrong, place+".externalId")
}

// numberProblem says why a number of a batch has no answer.
type numberProblem struct {
	PhoneNumber string  `json:"phoneNumber"`
	ExternalID  string  `json:"externalId,omitzero"`
	Error       problem `json:"error"`
}

func appendProblem(b []byte, n *batchNumber, f *fault.Error, id string) ([]byte, error) {
	text, err := json.Marshal(numberProblem{PhoneNumber: n.sent, ExternalID: n.external.text, Error: problemOf(f, id)})
	return append(b, text...), err
}
