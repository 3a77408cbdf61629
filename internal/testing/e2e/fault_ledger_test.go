package e2e_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// compactLedger is the ledger of a run with only verifications, thousands a second:
// the same marks as those of a ledger in few bytes, one file per worker. A mark is
// written before the worker continues, each with one write.
type compactLedger struct {
	dir string

	mu     sync.Mutex
	tracks int
}

func newTape(t *testing.T) *compactLedger {
	t.Helper()
	return &compactLedger{dir: ledgerDir(t)}
}

// workerLog is the part of the ledger that one worker writes.
type workerLog struct {
	file *os.File
	mark []byte
}

func (tp *compactLedger) track(tb testing.TB) *workerLog {
	tb.Helper()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.tracks++
	name := filepath.Join(tp.dir, fmt.Sprintf("%06d.track", tp.tracks))
	return &workerLog{file: must(os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600))(tb)}
}

// The first byte of a mark is its kind: a request is about to be sent, or its
// outcome. The content of an answer follows it.
const (
	markSent        = 's'
	markAnswered    = 'a'
	markRefused     = 'r'
	markUnavailable = 'l' // 503: it may have taken effect
	markNoAnswer    = 'u' // no response
	markUnsent      = 'n'
)

// outcomeOf maps marks to outcomes.
func outcomeOf(mark byte) (outcome, error) {
	switch mark {
	case markAnswered:
		return okay, nil
	case markRefused:
		return refused, nil
	case markUnavailable, markNoAnswer:
		return unknown, nil
	case markUnsent:
		return unsent, nil
	}
	return "", errors.New("e2e: the tape is damaged: it has a mark that does not exist")
}

func (tr *workerLog) sent(id correlator, number int64, text string) {
	tr.begin(markSent, id)
	tr.mark = binary.AppendUvarint(tr.mark, uint64(number))
	tr.text(text)
	tr.write()
}

func (tr *workerLog) ended(mark byte, id correlator, t answerFields) {
	tr.begin(mark, id)
	if mark == markAnswered {
		for _, s := range []string{t.PhoneNumber, t.Status, t.RequestID, t.MobileNetwork, t.VerificationTimestamp} {
			tr.text(s)
		}
	}
	tr.write()
}

func (tr *workerLog) begin(mark byte, id correlator) {
	tr.mark = binary.AppendUvarint(append(tr.mark[:0], mark), uint64(id))
}

func (tr *workerLog) text(s string) {
	tr.mark = append(binary.AppendUvarint(tr.mark, uint64(len(s))), s...)
}

func (tr *workerLog) write() {
	if _, err := tr.file.Write(tr.mark); err != nil {
		panic("e2e: the ledger cannot be written: " + err.Error()) // without it the run proves nothing
	}
}

func (tr *workerLog) close() { _ = tr.file.Close() }

// read returns the content of the ledger, and how many requests ended with 503.
func (tp *compactLedger) read(t *testing.T) (all *requestLog, later int) {
	t.Helper()
	all = newQuestions()
	for _, name := range must(filepath.Glob(filepath.Join(tp.dir, "*.track")))(t) {
		r := &workerLogReader{rest: must(os.ReadFile(name))(t)}
		for len(r.rest) > 0 && r.err == nil {
			if r.next(all) == markUnavailable {
				later++
			}
		}
		if r.err != nil {
			t.Fatalf("%s: %v", filepath.Base(name), r.err)
		}
	}
	return all.settle(), later
}

// workerLogReader reads marks.
type workerLogReader struct {
	rest []byte
	err  error
}

var errCut = errors.New("e2e: the tape is damaged: a mark is cut")

// next reads one mark into all and returns what it is.
func (r *workerLogReader) next(all *requestLog) byte {
	mark := r.rest[0]
	r.rest = r.rest[1:]
	id := correlator(r.number())
	if mark == markSent {
		number, text := r.number(), r.text()
		if _, twice := all.at[uint64(id)]; twice {
			r.err = errors.Join(r.err, fmt.Errorf("e2e: question %s was sent twice", id))
		}
		all.add(id, int64(number), text)
		return mark
	}
	end, err := outcomeOf(mark)
	i, there := all.at[uint64(id)]
	if err != nil || !there {
		r.err = errors.Join(r.err, err, fmt.Errorf("e2e: question %s ended as %c", id, mark))
		return mark
	}
	a := &all.list[i]
	first := a.outcome != okay
	a.ended(end)
	if end == okay {
		t := answerFields{PhoneNumber: r.text(), Status: r.text(), RequestID: r.text(), MobileNetwork: r.text(), VerificationTimestamp: r.text()}
		if first {
			all.told(a, t)
		}
	}
	return mark
}

func (r *workerLogReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.err = nil, errCut
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *workerLogReader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errCut
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// The ledger returns what was written: every outcome, several outcomes of one
// request, and a request without an outcome. A truncated ledger is not read as if
// it were complete.
func TestCompactLedger(t *testing.T) {
	tp := &compactLedger{dir: t.TempDir()}
	tr := tp.track(t)
	said := answerFields{"0803", "NORMAL", "0199e9a4-1c00-7000-8000-000000000001", "Cobalt", "2026-11-15T08:00:00.123Z"}
	ends := map[correlator]struct {
		marks string
		want  outcome
	}{
		1: {"a", okay}, 2: {"r", refused}, 3: {"l", unknown}, 4: {"u", unknown}, 5: {"n", unsent}, 6: {"", unknown},
		7: {"la", okay}, 8: {"al", okay}, 9: {"rn", refused}, 10: {"nu", unknown}, 11: {"ur", unknown},
	}
	for id, e := range ends {
		tr.sent(id, 2348030000000+int64(id), "0803"+id.String())
		for _, m := range []byte(e.marks) {
			tr.ended(m, id, said)
		}
	}
	tr.close()
	all, later := tp.read(t)
	if len(all.list) != len(ends) || later != 3 {
		t.Errorf("%d questions, %d of them put off", len(all.list), later)
	}
	for id, e := range ends {
		a, _ := all.find(id.String())
		if a == nil || a.outcome != e.want || a.number != 2348030000000+int64(id) || a.sent != "0803"+id.String() {
			t.Fatalf("question %s, which ended with the marks %q, is %+v", id, e.marks, a)
		}
		if a.outcome == okay && (a.requestID.String() != said.RequestID || stamp(time.UnixMilli(a.at)) != said.VerificationTimestamp || a.phone != said.PhoneNumber ||
			a.status != said.Status || a.network != said.MobileNetwork) {
			t.Errorf("question %s was told %+v", id, a)
		}
	}
	name := filepath.Join(tp.dir, "000001.track")
	whole := must(os.ReadFile(name))(t)
	whole = append(whole, markSent)
	r := &workerLogReader{rest: whole}
	for again := newQuestions(); len(r.rest) > 0 && r.err == nil; {
		r.next(again)
	}
	if !errors.Is(r.err, errCut) {
		t.Errorf("a tape that was cut is read without a complaint: %v", r.err)
	}
}
