package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/verify"
)

const (
	maxNumbers   = 1_000    // in one batch
	maxBatchJSON = 64 << 10 // bytes
)

var (
	errBatchTooLarge   = fault.New(fault.PayloadTooLarge, "The body is too large. The limit for a batch is 64 KiB.")
	errNumberMalformed = fault.ErrInvalid.With(fault.Violation{Field: "phoneNumber", Code: fault.BadFormat, Message: phoneNumberHint})
)

// verifyBatch serves POST /api/v1/phone/api/phone-numbers/verify-batch. Each
// number has its own answer, with its own record, or its own problem. The status
// is 200 if the body is well formed.
func (a *API) verifyBatch(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	numbers, common, err := a.readBatch(w, r)
	if err != nil {
		return err
	}
	if err := a.chargeMore(w, r, len(numbers)-1); err != nil {
		return err
	}
	who := principal(ctx)
	common.Entity, common.Key, common.Mode, common.Purpose, common.Correlator, common.Grace = who.Entity, who.ID, who.Mode, who.Purpose, correlator(ctx), who.Grace
	problems := make([]error, len(numbers))
	var requests []verify.Request
	for i, sent := range numbers {
		q := common
		q.RawNumber = sent
		switch q.Number, err = a.Region.ParseMobile(sent); {
		case errors.Is(err, phone.ErrMalformed):
			problems[i] = errNumberMalformed
		case err != nil:
			problems[i] = errNotMobile
		default:
			requests = append(requests, q)
		}
	}
	if requests, err = a.admitBatch(requests, who.Limits, problems); err != nil {
		return err
	}
	var answers []verify.Answer
	var errs []error
	if len(requests) > 0 {
		answers, errs, err = a.Verifier.VerifyAll(ctx, requests)
		if a.recordBatch(requests, answers, errs); err != nil {
			return err
		}
	}
	body := append(make([]byte, 0, 256*len(numbers)), `{"status":"Success","data":{"results":[`...)
	answered := 0
	for i, sent := range numbers {
		if i > 0 {
			body = append(body, ',')
		}
		problem := problems[i]
		if problem == nil {
			if problem = errs[0]; problem == nil {
				answered++
				body = appendAnswer(body, sent, &answers[0], answers[0].RequestID.String())
			}
			answers, errs = answers[1:], errs[1:]
		}
		if problem != nil {
			if body, err = appendProblem(body, sent, faults.Of(problem), requestID(ctx).String()); err != nil {
				return err
			}
		}
	}
	add(ctx, slog.Int("numbers", len(numbers)), slog.Int("answered", answered))
	send(w, r, http.StatusOK, append(body, `]},"statusCode":"200"}`...))
	return nil
}

// readBatch reads the numbers and the options that apply to each of them.
func (a *API) readBatch(w http.ResponseWriter, r *http.Request) (numbers []string, common verify.Request, err error) {
	body, err := readJSON(w, r, maxBatchJSON, errBatchTooLarge)
	if err != nil {
		return nil, common, err
	}
	var more options
	found, err := decodeObject(body, append(more.fields(), field{name: "phoneNumbers", list: &numbers, maxItems: maxNumbers}))
	if err != nil {
		return nil, common, err
	}
	var wrong fault.Form
	wrong.Check(len(numbers) > 0, "phoneNumbers", fault.Required, "Enter 1 to "+strconv.Itoa(maxNumbers)+" phone numbers.")
	more.check(&wrong, &common, a.latestSince(r))
	return numbers, common, mergeViolations(found, wrong.Err())
}

// numberProblem says why a number of a batch has no answer.
type numberProblem struct {
	PhoneNumber string  `json:"phoneNumber"`
	Error       problem `json:"error"`
}

func appendProblem(b []byte, sent string, f *fault.Error, id string) ([]byte, error) {
	text, err := json.Marshal(numberProblem{PhoneNumber: sent, Error: problemOf(f, id)})
	return append(b, text...), err
}
