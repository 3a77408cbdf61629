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
	errBatchTooLarge   = fault.New(fault.PayloadTooLarge, "The body is larger than the operation takes. A batch of numbers may have 64 KiB.")
	errNumberMalformed = fault.ErrInvalid.With(fault.Violation{Field: "phoneNumber", Code: fault.BadFormat, Message: wayToWrite})
)

// verifyBatch serves POST /api/v1/phone/api/phone-numbers/verify-batch. Each
// number has its own answer, with a record of its own, or its own problem: the
// answer to the whole is 200 as soon as its form is right.
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
	var questions []verify.Question
	for i, sent := range numbers {
		q := common
		q.Sent = sent
		switch q.Number, err = a.Region.ParseMobile(sent); {
		case errors.Is(err, phone.ErrMalformed):
			problems[i] = errNumberMalformed
		case err != nil:
			problems[i] = errNotMobile
		default:
			questions = append(questions, q)
		}
	}
	if questions, err = a.admitQuestions(questions, who.Limits, problems); err != nil {
		return err
	}
	var answers []verify.Answer
	var errs []error
	if len(questions) > 0 {
		answers, errs, err = a.Verifier.AskAll(ctx, questions)
		if a.learnAll(questions, answers, errs); err != nil {
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
			if body, err = appendProblem(body, sent, faultOf(problem), requestID(ctx).String()); err != nil {
				return err
			}
		}
	}
	add(ctx, slog.Int("numbers", len(numbers)), slog.Int("answered", answered))
	send(w, r, http.StatusOK, append(body, `]},"statusCode":"200"}`...))
	return nil
}

// readBatch reads which numbers are asked about, and what else is asked about
// each of them.
func (a *API) readBatch(w http.ResponseWriter, r *http.Request) (numbers []string, common verify.Question, err error) {
	body, err := readJSON(w, r, maxBatchJSON, errBatchTooLarge)
	if err != nil {
		return nil, common, err
	}
	var more options
	found, err := decodeObject(body, append(more.fields(), field{name: "phoneNumbers", list: &numbers, most: maxNumbers}))
	if err != nil {
		return nil, common, err
	}
	var wrong fault.Form
	wrong.Check(len(numbers) > 0, "phoneNumbers", fault.Required, "Give between 1 and "+strconv.Itoa(maxNumbers)+" phone numbers to ask about.")
	more.check(&wrong, &common, a.latest(r))
	return numbers, common, merge(found, wrong.Err())
}

// numberProblem is why there is no answer about one number of a batch.
type numberProblem struct {
	PhoneNumber string  `json:"phoneNumber"`
	Error       problem `json:"error"`
}

func appendProblem(b []byte, sent string, f *fault.Error, id string) ([]byte, error) {
	text, err := json.Marshal(numberProblem{PhoneNumber: sent, Error: problemOf(f, id)})
	return append(b, text...), err
}
