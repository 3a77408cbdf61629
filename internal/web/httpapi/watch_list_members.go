package httpapi

import (
	"errors"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
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
func (b *Bank) parse(c *bankCall, text string) (n phone.Number, code string) {
	n, err := b.Region.ParseMobile(text)
	switch {
	case c.isTest():
		if n, err = b.Region.Parse(text); err != nil {
			return n, badNumber
		}
		if !b.Sandbox.Simulator.Has(n) {
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

// errFewNumbers refuses a file that is hardly a list: of another format or encoding, or empty
// because an export failed. It would end the watch over the numbers of the list without a word.
var errFewNumbers = fault.New(fault.InvalidArgument, "Most rows of the file are no mobile numbers, or it has none at all, so nothing was changed. "+
	"A dry run lists the rows that are rejected. To watch nothing any more, delete the list.")

// maxRejected is how many rejected rows a response lists. It counts all.
const maxRejected = 1000

type replacedResponse struct {
	listResponse

	DryRun       bool          `json:"dryRun"`
	Rejected     int64         `json:"rejected"`
	RejectedRows []rejectedRow `json:"rejectedRows"`
}

// replaceMembers serves PUT /api/v1/watch-lists/{listId}/members.
func (b *Bank) replaceMembers(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "listId", watchlist.ErrNoList)
	if err != nil {
		return err
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	values, wrong, err := readQuery(r.URL.RawQuery, "dryRun")
	if err != nil {
		return err
	}
	dryRun := values.Get("dryRun")
	wrong.Check(!values.Has("dryRun") || dryRun == "true" || dryRun == "false", "dryRun", fault.NotAllowed, "Must be true or false.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if _, err := b.Lists.List(r.Context(), c.owner, id); err != nil {
		return err // before the file is sent, if the client waits for 100 Continue
	}
	done, err := b.Lists.Replacing(r.Context(), c.owner)
	if err != nil {
		return err
	}
	defer done()
	answer := replacedResponse{DryRun: dryRun == "true", RejectedRows: []rejectedRow{}}
	numbers := func(yield func(phone.Number, error) bool) {
		began, accepted := time.Now(), int64(0)
		err := linefile.EachNumber(r.Context(), file, b.ListMaxRows, func(place int64, text string) error {
			if place%rowsInTurn == 0 {
				if err := b.Lists.TakeTurn(r.Context(), time.Since(began)); err != nil {
					return err
				}
				began = time.Now()
			}
			n, code := b.parse(c, text)
			if code != "" {
				if answer.Rejected++; len(answer.RejectedRows) < maxRejected {
					answer.RejectedRows = append(answer.RejectedRows, rejectedRow{Line: place, Code: code})
				}
				return nil
			}
			if accepted++; !yield(n, nil) {
				return errListFull
			}
			return nil
		})
		switch {
		case errors.Is(err, errListFull):
		case err != nil:
			yield(phone.Number{}, c.fileError(err))
		case !answer.DryRun && (accepted == 0 || accepted < answer.Rejected):
			yield(phone.Number{}, errFewNumbers)
		}
	}
	l, err := b.Lists.Replace(r.Context(), c.owner, id, iter.Seq2[phone.Number, error](numbers), answer.DryRun)
	if err != nil {
		return err
	}
	answer.listResponse = listOf(&l, c.owner.Mode)
	return c.respond(answer)
}

// rowsInTurn is how many rows of a file are read in one turn: some milliseconds.
const rowsInTurn = 5_000

var errListFull = errors.New("httpapi: the list takes no more numbers")

// changeMembers serves POST /api/v1/watch-lists/{listId}/members.
func (b *Bank) changeMembers(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "listId", watchlist.ErrNoList)
	if err != nil {
		return err
	}
	var texts [2][]string
	var numbers [2][]phone.Number
	names := [2]string{"add", "remove"}
	err = c.decode(func(wrong *fault.Form) {
		for i, name := range names {
			numbers[i] = b.parseAll(c, wrong, name, texts[i])
		}
		wrong.Check(len(texts[0])+len(texts[1]) > 0, "add", fault.Required, "Name numbers to add or to remove.")
	}, field{name: names[0], list: &texts[0], maxItems: watchlist.MaxChange}, field{name: names[1], list: &texts[1], maxItems: watchlist.MaxChange})
	if err != nil {
		return err
	}
	l, err := b.Lists.Change(r.Context(), c.owner, id, numbers[0], numbers[1])
	if err != nil {
		return err
	}
	return c.respond(listOf(&l, c.owner.Mode))
}

// maxWrong is how many numbers that are wrong a response names.
const maxWrong = 32

// parseAll reads the numbers of a field, and reports those that are rejected.
func (b *Bank) parseAll(c *bankCall, wrong *fault.Form, field string, texts []string) []phone.Number {
	numbers := make([]phone.Number, 0, len(texts))
	for i, text := range texts {
		n, code := b.parse(c, text)
		if code == "" {
			numbers = append(numbers, n)
			continue
		}
		if len(wrong.Violations()) < maxWrong {
			wrong.Check(false, field+"["+strconv.Itoa(i)+"]", rejectedViolation[code].Code, rejectedViolation[code].Message)
		}
	}
	return numbers
}

// rejectedViolation has the codes that a verification of such a number has.
var rejectedViolation = map[string]fault.Violation{
	badNumber: {Code: fault.BadFormat, Message: "This is not a phone number."},
	notMobile: {Code: fault.NotAllowed, Message: "This is not a mobile number of the country of this service."},
	notTest:   {Code: fault.NotAllowed, Message: "A test key works only with test numbers; /docs lists them."},
}

// sendMembers serves GET /api/v1/watch-lists/{listId}/members: a file with one number a
// line, without the envelope.
func (b *Bank) sendMembers(w http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "listId", watchlist.ErrNoList)
	if err != nil {
		return err
	}
	started := false
	err = b.Lists.Members(r.Context(), c.owner, id, func(numbers []phone.Number) error {
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
