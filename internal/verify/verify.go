// Package verify answers the question that the service exists for: how does the
// line of this phone number stand, and with which network is it?
//
// An answer exists only if the journal holds it. When the journal does not take
// it, the caller is refused and hears nothing about the line.
//
// Questions that wait at the same moment share one transaction: one look-up, one
// batch of the journal, one commit. As soon as a transaction returns, whatever
// has come in meanwhile makes up the next one; there is no timer.
package verify

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

var (
	// ErrBusy reports that more questions wait than the service can answer soon.
	ErrBusy = fault.New(fault.Unavailable, "The service has more questions than it can answer at the moment. Ask again after the time in the Retry-After header.")

	// ErrTooLate reports a question whose time was up before it was answered.
	ErrTooLate = fault.New(fault.Unavailable, "The answer took too long and was given up. Ask again after the time in the Retry-After header.")
)

// Question is one request for an answer.
type Question struct {
	Entity     uuid.UUID
	Key        uuid.UUID
	Mode       string
	Purpose    string
	Correlator string
	Number     phone.Number
	Sent       string    // the number as it was sent
	Since      time.Time // whole seconds; has the line changed since then? Zero does not ask
	Include    Include
	Grace      bool // the key was admitted from memory, because nobody could be asked about it
}

// Answer is what the caller is told.
type Answer struct {
	RequestID uuid.UUID
	At        time.Time // whole milliseconds
	Status    line.Status
	Network   string
	Extra     Extra
	// Said is Extra as the record has it, one JSON object, so that the caller is
	// told those very bytes. It is empty when nothing more was asked.
	Said string
}

// Verifier answers questions. All fields but Breaker are required.
type Verifier struct {
	Journal  *journal.Journal
	Breaker  *pg.Breaker // told when a batch is lost, and heard before a question waits
	Lines    *line.Almanac
	Stage    *rehearsal.Stage // plays the test numbers
	Now      func() time.Time
	Batch    int           // the most answers in one commit
	Flushes  int           // the most commits under way at once
	Queue    int           // the most questions that wait, in a burst
	Patience time.Duration // how long a question may take

	mu      sync.Mutex
	queue   queue
	flights int       // commits under way
	calm    time.Time // when few questions were last waiting for a commit
}

// Ask looks the number up, records the answer, and only then returns it.
func (v *Verifier) Ask(ctx context.Context, q Question) (Answer, error) {
	if q.rehearsed() {
		if err := v.rehearse(ctx, []Question{q})[0]; err != nil {
			return Answer{}, err
		}
	}
	w := &waiting{question: q, due: time.Now().Add(v.Patience), done: make(chan struct{})}
	if err := v.join(ctx, w); err != nil {
		return Answer{}, err
	}
	return v.await(ctx, w)
}

// AskAll asks several questions of one caller at once. Each has its own answer
// or its own error; an error of the whole means that none was asked.
func (v *Verifier) AskAll(ctx context.Context, questions []Question) ([]Answer, []error, error) {
	if len(questions) > 0 && questions[0].rehearsed() { // all are of one key
		return v.askRehearsed(ctx, questions)
	}
	return v.askAll(ctx, questions)
}

// askAll asks a part at a time, so that many questions of one caller do not fill
// the queue. If there is no room for the first part, none was asked.
func (v *Verifier) askAll(ctx context.Context, questions []Question) ([]Answer, []error, error) {
	answers, errs := make([]Answer, 0, len(questions)), make([]error, 0, len(questions))
	due := time.Now().Add(v.Patience)
	for part := range slices.Chunk(questions, max(v.few()/2, 1)) {
		all := make([]*waiting, len(part))
		for i := range part {
			all[i] = &waiting{question: part[i], due: due, done: make(chan struct{})}
		}
		err := v.join(ctx, all...)
		if err != nil && len(answers) == 0 {
			return nil, nil, err
		}
		for _, w := range all {
			a, e := Answer{}, err
			if err == nil {
				a, e = v.await(ctx, w)
			}
			answers, errs = append(answers, a), append(errs, e)
		}
	}
	return answers, errs, nil
}

// Waiting returns how many questions wait for a commit.
func (v *Verifier) Waiting() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.queue.size
}

// few is how many questions may wait where more are asked than can be answered.
func (v *Verifier) few() int { return max(v.Queue/16, 1) }

// room returns how many questions may wait. A burst, or those who came while the
// disk paused, may fill the queue, and are answered a little later. But where
// many have waited for every commit of late, more is asked than can be answered;
// a long queue would then only make everybody late, so most are told at once.
func (v *Verifier) room(now time.Time) int {
	if v.flights == 0 {
		v.calm = now
	}
	if now.Sub(v.calm) > v.Patience/2 {
		return v.few()
	}
	return v.Queue
}

// away returns why nothing can be recorded at the moment, if that is known.
func (v *Verifier) away() error {
	if v.Breaker.Away() {
		return journal.ErrNotRecorded.Because(pg.ErrAway)
	}
	return nil
}

// join puts questions of one entity into the queue, all or none, and sees to it
// that somebody answers them. Each may take the place of one that gives way.
func (v *Verifier) join(ctx context.Context, all ...*waiting) error {
	if err := v.away(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	over := v.queue.size + len(all) - v.room(time.Now())
	for range min(over, len(all)) {
		given := v.queue.yield(all[0].question.Entity, len(all))
		if given == nil {
			return ErrBusy
		}
		if !given.left {
			given.err = ErrBusy
			close(given.done)
		}
	}
	for _, w := range all {
		v.queue.push(w)
	}
	if v.flights < v.Flushes {
		v.flights++
		go v.fly(context.WithoutCancel(ctx)) // a caller who leaves ends its own waiting, not the work that others share
	}
	return nil
}

// await returns what became of a question. A caller who leaves is told that
// there is no answer; if its question is being answered at that moment, there
// may be a record of an answer that nobody heard.
func (v *Verifier) await(ctx context.Context, w *waiting) (Answer, error) {
	select {
	case <-w.done:
		return w.answer, w.err
	case <-ctx.Done():
		v.mu.Lock()
		w.left = true
		v.mu.Unlock()
		return Answer{}, ErrTooLate.Because(ctx.Err())
	}
}

// fly answers questions for as long as there are any. It ends with the oldest
// question of each batch, and younger ones wait behind it: so nobody needs a
// timer to be told in time that it took too long.
func (v *Verifier) fly(ctx context.Context) {
	for {
		v.mu.Lock()
		if v.queue.size < v.few() {
			v.calm = time.Now()
		}
		batch := v.queue.take(v.Batch)
		if len(batch) == 0 {
			v.flights--
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		timed, cancel := context.WithDeadline(ctx, v.hurry(&batch))
		tries := mostTries
		v.answer(timed, batch, &tries)
		cancel()
	}
}

// hurry returns until when the work on a batch may take, so that there is time
// left for its commit when the oldest question's time is up. Questions for which
// there is too little left are refused first: they would take the others with
// them.
func (v *Verifier) hurry(batch *[]*waiting) (deadline time.Time) {
	now := time.Now()
	due := now.Add(v.Patience)
	*batch = slices.DeleteFunc(*batch, func(w *waiting) bool {
		late := w.due.Sub(now) < v.Patience/2
		switch {
		case late:
			w.err = ErrTooLate
			close(w.done)
		case w.due.Before(due):
			due = w.due
		}
		return late
	})
	return due.Add(-v.Patience / 4)
}

// mostTries is how many commits a batch may cost that the database refuses. A
// few questions that cannot be recorded are found in as many; when none can be,
// as without a partition, trying each alone would only add to the trouble.
const mostTries = 40

// answer records answers to a batch of questions and hands them out. If the
// database refuses the batch for what is in it, the halves are tried: only the
// question that cannot be recorded goes without an answer.
func (v *Verifier) answer(ctx context.Context, batch []*waiting, tries *int) {
	if len(batch) == 0 {
		return
	}
	err := v.away()
	if err == nil {
		err = v.Journal.Record(ctx, func(tx pg.Tx) ([]journal.Entry, error) { return v.decide(ctx, tx, batch) })
	}
	if *tries--; err != nil && len(batch) > 1 && *tries > 0 && pg.Refused(err) {
		half := len(batch) / 2
		v.answer(ctx, batch[:half], tries)
		v.answer(ctx, batch[half:], tries)
		return
	}
	v.Breaker.Lost(err)
	for _, w := range batch {
		if err != nil {
			w.answer, w.err = Answer{}, err
		}
		close(w.done)
	}
}

// Warm does what a batch does, for no question: after an outage, the connection
// of the first batch has all that the connection before it had.
func (v *Verifier) Warm(ctx context.Context, tx pg.Tx) error {
	if _, err := v.Lines.Survey(ctx, tx, nil, v.Now()); err != nil {
		return err
	}
	return v.Journal.Warm(ctx, tx)
}

// decide answers a batch of questions from one look at the database, and returns
// their records. A question that has no answer has no record.
func (v *Verifier) decide(ctx context.Context, tx pg.Tx, batch []*waiting) ([]journal.Entry, error) {
	// One reading of the clock gives the timestamp, the time inside the id, the
	// partition of the record and the moment for which the answer holds.
	at := v.Now().UTC().Truncate(time.Millisecond)
	numbers := make([]phone.Number, 0, len(batch))
	for _, w := range batch {
		if !w.question.rehearsed() {
			numbers = append(numbers, w.question.Number)
		}
	}
	survey, err := v.Lines.Survey(ctx, tx, numbers, at)
	if err != nil {
		return nil, err
	}
	var clocks map[uuid.UUID]rehearsal.Clock
	if len(numbers) < len(batch) {
		if clocks, err = clocksOf(ctx, tx, batch); err != nil {
			return nil, err
		}
	}
	entries := make([]journal.Entry, 0, len(batch))
	for _, w := range batch {
		q, of := &w.question, at
		var l line.Look
		if q.rehearsed() {
			l, of, w.err = v.play(q, clocks[q.Key], at, survey.Policy())
		} else {
			l = survey.Look(q.Number)
		}
		if w.err == nil {
			w.answer, w.err = answer(q, &l, at, of)
		}
		if w.err != nil {
			continue
		}
		entries = append(entries, journal.Entry{
			RequestID: w.answer.RequestID, At: at, Entity: q.Entity, Key: q.Key, Mode: q.Mode, Purpose: q.Purpose, Correlator: q.Correlator,
			Number: q.Number.Int(), PhoneNumber: q.Sent, Options: q.options(), Status: string(w.answer.Status), MobileNetwork: w.answer.Network,
			Extra: w.answer.Said, LineVersion: int64(l.Row.Version), PolicyVersion: l.Policy.Version, PlanVersion: l.Plan.Version, Nonce: journal.NewNonce(),
		})
	}
	return entries, nil
}

// answer says, at a moment, how the line stands as of a moment, and what else
// was asked. Only by a test clock are the two not the same.
func answer(q *Question, l *line.Look, at, of time.Time) (a Answer, err error) {
	view := l.View(of)
	a = Answer{RequestID: journal.NewRequestID(at), At: at, Status: view.Status, Network: l.NetworkName(view.Network)}
	if q.plain() {
		return a, nil
	}
	a.Extra = q.extra(l, view, of)
	a.Said, err = a.Extra.text()
	return a, err
}
