package e2e_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// sentRequest is one request of a ledger, in few bytes: there may be millions.
type sentRequest struct {
	number  int64
	sent    string // the number as it was sent
	outcome outcome

	// The answer, if the outcome is okay.
	requestID uuid.UUID
	at        int64 // milliseconds; -1 if its format is wrong
	phone     string
	status    string
	network   string

	records int // that the checker found
}

// requestLog has the requests of a ledger by number: the correlator of request 7 is
// q7.
type requestLog struct {
	list []sentRequest
	at   map[uint64]int32
	// Answers have few different texts; each is stored once.
	words map[string]string
}

func newQuestions() *requestLog {
	return &requestLog{at: make(map[uint64]int32), words: make(map[string]string)}
}

// correlator is the number of a request.
type correlator uint64

// String implements fmt.Stringer.
func (c correlator) String() string { return "q" + strconv.FormatUint(uint64(c), 10) }

// parseCorrelator is the reverse of String. It accepts only what String returns.
func parseCorrelator(text string) (correlator, bool) {
	digits, found := strings.CutPrefix(text, "q")
	n, err := strconv.ParseUint(digits, 10, 64)
	return correlator(n), found && err == nil && correlator(n).String() == text
}

// find returns the request with that correlator, or nil.
func (q *requestLog) find(text string) (*sentRequest, correlator) {
	id, ok := parseCorrelator(text)
	if !ok {
		return nil, 0
	}
	i, there := q.at[uint64(id)]
	if !there {
		return nil, 0
	}
	return &q.list[i], id
}

// add adds a request that was sent. Its outcome is unknown until ended is called.
func (q *requestLog) add(id correlator, number int64, sent string) *sentRequest {
	q.at[uint64(id)] = int32(len(q.list))
	q.list = append(q.list, sentRequest{number: number, sent: sent})
	return &q.list[len(q.list)-1]
}

// ended adds an outcome of a request. A certain outcome decides; a request that was
// repeated may have several.
func (a *sentRequest) ended(o outcome) {
	if a.outcome != okay && (o == okay || o == unknown || a.outcome == "" || a.outcome == unsent) {
		a.outcome = o
	}
}

// settle gives requests without an outcome the outcome unknown: the process that
// should have recorded it was killed.
func (q *requestLog) settle() *requestLog {
	for i := range q.list {
		if q.list[i].outcome == "" {
			q.list[i].outcome = unknown
		}
	}
	return q
}

// told records the answer.
func (q *requestLog) told(a *sentRequest, t answerFields) {
	var err error
	if a.requestID, err = uuid.Parse(t.RequestID); err != nil || a.requestID.String() != t.RequestID {
		a.requestID = uuid.Nil
	}
	a.at = -1
	if at, err := time.Parse(stampForm, t.VerificationTimestamp); err == nil && stamp(at) == t.VerificationTimestamp {
		a.at = at.UnixMilli()
	}
	a.phone, a.status, a.network = t.PhoneNumber, q.word(t.Status), q.word(t.MobileNetwork)
	if a.phone == a.sent {
		a.phone = a.sent
	}
}

func (q *requestLog) word(s string) string {
	if kept, there := q.words[s]; there {
		return kept
	}
	q.words[s] = s
	return s
}

// ofBook returns the requests of a book.
func ofBook(book map[string]*entry) *requestLog {
	q := newQuestions()
	for id, e := range book {
		if e.sent.Asked == nil {
			continue
		}
		number, ok := parseCorrelator(id)
		if !ok {
			panic("e2e: the ledger has a question without a number: " + id)
		}
		a := q.add(number, e.sent.Phone, e.sent.Asked.PhoneNumber)
		a.outcome = e.outcome()
		if a.outcome == okay {
			q.told(a, *e.answered().Told)
		}
	}
	return q
}
