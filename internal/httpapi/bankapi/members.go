package bankapi

import (
	"errors"
	"iter"
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/watchlist"
	"github.com/lineproof/lineproof/internal/web"
)

// The codes of rejected rows. They are about the form of a number only: whether it is a
// line is nothing that a list may tell.
const (
	badNumber = "BAD_FORMAT"
	notMobile = "NOT_MOBILE"
	notTest   = "NOT_TEST_NUMBER"
)

// parse reads a number, or says why it is rejected.
func (a *API) parse(c *Call, text string) (n phone.Number, code string) {
	n, err := a.Region.ParseMobile(text)
	switch {
	case c.isTest():
		if n, err = a.Region.Parse(text); err != nil {
			return n, badNumber
		}
		if !a.Sandbox.Simulator.Has(n) {
			return n, notTest
		}
	case errors.Is(err, phone.ErrNotMobile):
		return n, notMobile
	case err != nil:
		return n, badNumber
	}
	return n, ""
}

type rejectedRow struct {
	Line int64  `json:"line"`
	Code string `json:"code"`
}

// maxRejected is how many rejected rows a response lists. It counts all.
const maxRejected = 1000

type replacedResponse struct {
	listResponse

	DryRun       bool          `json:"dryRun"`
	Rejected     int64         `json:"rejected"`
	RejectedRows []rejectedRow `json:"rejectedRows"`
}

// replaceMembers serves PUT /api/v1/watch-lists/{listId}/members.
func (a *API) replaceMembers(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := listID(r)
	if err != nil {
		return err
	}
	file, err := c.File()
	if err != nil {
		return err
	}
	values, wrong, err := c.Query("dryRun")
	if err != nil {
		return err
	}
	dryRun := values.Get("dryRun")
	wrong.Check(!values.Has("dryRun") || dryRun == "true" || dryRun == "false", "dryRun", fault.NotAllowed, "Must be true or false.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if _, err := a.Lists.List(r.Context(), c.Owner, id); err != nil {
		return err // before the file is sent, if the client waits for 100 Continue
	}
	answer := replacedResponse{DryRun: dryRun == "true", RejectedRows: []rejectedRow{}}
	numbers := func(yield func(phone.Number, error) bool) {
		err := linefile.EachNumber(file, func(place int64, text string) error {
			n, code := a.parse(c, text)
			if code != "" {
				if answer.Rejected++; len(answer.RejectedRows) < maxRejected {
					answer.RejectedRows = append(answer.RejectedRows, rejectedRow{Line: place, Code: code})
				}
				return nil
			}
			if !yield(n, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(phone.Number{}, c.FileError(err))
		}
	}
	l, err := a.Lists.Replace(r.Context(), c.Owner, id, iter.Seq2[phone.Number, error](numbers), answer.DryRun)
	if err != nil {
		return err
	}
	answer.listResponse = listOf(&l, c.Owner.Mode)
	return c.Respond(answer)
}

var errStopped = errors.New("bankapi: the list takes no more numbers")

// maxMembers is above the size of a request with as many numbers as are allowed.
const maxMembers = 1 << 20

// changeMembers serves POST /api/v1/watch-lists/{listId}/members.
func (a *API) changeMembers(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := listID(r)
	if err != nil {
		return err
	}
	var texts [2][]string
	var numbers [2][]phone.Number
	names := [2]string{"add", "remove"}
	err = c.Decode(maxMembers, func(wrong *fault.Form) {
		for i, name := range names {
			numbers[i] = a.parseAll(c, wrong, name, texts[i])
		}
		wrong.Check(len(texts[0])+len(texts[1]) > 0, "add", fault.Required, "Name numbers to add or to remove.")
	}, Field{Name: names[0], List: &texts[0], MaxItems: watchlist.MaxChange}, Field{Name: names[1], List: &texts[1], MaxItems: watchlist.MaxChange})
	if err != nil {
		return err
	}
	l, err := a.Lists.Change(r.Context(), c.Owner, id, numbers[0], numbers[1])
	if err != nil {
		return err
	}
	return c.Respond(listOf(&l, c.Owner.Mode))
}

// maxWrong is how many numbers that are wrong a response names.
const maxWrong = 32

// parseAll reads the numbers of a field, and reports those that are rejected.
func (a *API) parseAll(c *Call, wrong *fault.Form, field string, texts []string) []phone.Number {
	numbers := make([]phone.Number, 0, len(texts))
	for i, text := range texts {
		n, code := a.parse(c, text)
		if code == "" {
			numbers = append(numbers, n)
			continue
		}
		if len(wrong.Violations()) < maxWrong {
			wrong.Check(false, field+"["+strconv.Itoa(i)+"]", fault.BadFormat, rejectedMessage[code])
		}
	}
	return numbers
}

var rejectedMessage = map[string]string{
	badNumber: "This is not a phone number.",
	notMobile: "This is not a mobile number of the country of this service.",
	notTest:   "A test key works only with test numbers; /docs lists them.",
}

// sendMembers serves GET /api/v1/watch-lists/{listId}/members: a file with one number a
// line, without the envelope.
func (a *API) sendMembers(w http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := listID(r)
	if err != nil {
		return err
	}
	started := false
	err = a.Lists.Members(r.Context(), c.Owner, id, func(numbers []phone.Number) error {
		if !started {
			started = true
			h := w.Header()
			h.Set("Content-Type", "text/csv; charset=utf-8; header=absent")
			h.Set("Content-Disposition", `attachment; filename="members-`+id.String()+`.csv"`)
			web.SetAPIHeaders(h)
			w.WriteHeader(http.StatusOK)
		}
		text := make([]byte, 0, len(numbers)*16)
		for _, n := range numbers {
			text = append(append(text, n.E164()...), '\n')
		}
		_, err := w.Write(text)
		return err
	})
	if err == nil || !started {
		return err
	}
	web.AbortResponse(w) // it is too late for an error response
	return nil
}
