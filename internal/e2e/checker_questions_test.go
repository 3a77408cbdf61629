package e2e_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// asked is what a ledger says about one question, in few bytes: there may be
// millions.
type asked struct {
	number  int64
	sent    string // the number as it was sent
	outcome outcome

	// What the caller was told, if the outcome is okay.
	requestID uuid.UUID
	at        int64 // milliseconds; -1 if it was not written as the contract says
	phone     string
	status    string
	network   string

	records int // that the checker found
}

// questions is what a ledger says about questions, by number: the correlator of
// question 7 is q7.
type questions struct {
	list []asked
	at   map[uint64]int32
	// Every answer has one of a few words; each is kept once.
	words map[string]string
}

func newQuestions() *questions {
	return &questions{at: make(map[uint64]int32), words: make(map[string]string)}
}

// correlator is the number of a question.
type correlator uint64

// String implements fmt.Stringer.
func (c correlator) String() string { return "q" + strconv.FormatUint(uint64(c), 10) }

// parseCorrelator is the reverse of String. Only what String writes is right.
func parseCorrelator(text string) (correlator, bool) {
	digits, found := strings.CutPrefix(text, "q")
	n, err := strconv.ParseUint(digits, 10, 64)
	return correlator(n), found && err == nil && correlator(n).String() == text
}

// find returns the question with that correlator, or nil.
func (q *questions) find(text string) (*asked, correlator) {
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

// add adds a question that was sent. Its outcome is unknown until something
// else is said.
func (q *questions) add(id correlator, number int64, sent string) *asked {
	q.at[uint64(id)] = int32(len(q.list))
	q.list = append(q.list, asked{number: number, sent: sent})
	return &q.list[len(q.list)-1]
}

// ended adds how a question ended. One end that is sure settles it; a question
// may have more than one if it was sent again.
func (a *asked) ended(o outcome) {
	if a.outcome != okay && (o == okay || o == unknown || a.outcome == "" || a.outcome == unsent) {
		a.outcome = o
	}
}

// settle gives those that have no end the outcome that this means: whoever was
// to write it down was cut off.
func (q *questions) settle() *questions {
	for i := range q.list {
		if q.list[i].outcome == "" {
			q.list[i].outcome = unknown
		}
	}
	return q
}

// told keeps what the caller was told.
func (q *questions) told(a *asked, t told) {
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

func (q *questions) word(s string) string {
	if kept, there := q.words[s]; there {
		return kept
	}
	q.words[s] = s
	return s
}

// ofBook returns the questions of a book.
func ofBook(book map[string]*entry) *questions {
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
