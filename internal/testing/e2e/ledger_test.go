package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// outcome is how a request ended, seen from outside.
type outcome string

const (
	okay    outcome = "ok"      // a complete response that reports success
	refused outcome = "refused" // a definite refusal
	unknown outcome = "unknown" // it may or may not have taken effect
	unsent  outcome = "unsent"  // no byte of it was sent
)

// mark is one line of the ledger: that a request is about to be sent, or how it
// ended.
type mark struct {
	ID      string       `json:"id"`
	Asked   *question    `json:"asked,omitempty"`
	Applied *application `json:"applied,omitempty"`
	Phone   int64        `json:"phone,omitempty"` // canonical, of the request or of the admin

	Outcome   outcome       `json:"outcome,omitempty"`
	Status    int           `json:"status,omitempty"`
	RequestID string        `json:"requestId,omitempty"` // X-Request-Id of the answer
	Told      *answerFields `json:"told,omitempty"`
	Made      *made         `json:"made,omitempty"`
	Problem   string        `json:"problem,omitempty"` // the code of a refusal
}

// request and application are the bodies that are sent; told and made are the
// data of the answers.
type question struct {
	PhoneNumber string `json:"phoneNumber"`
}

type application struct {
	CAC                string `json:"cac"`
	Name               string `json:"name"`
	IsDocumentRequired bool   `json:"isDocumentRequired"`
	AdminName          string `json:"adminName"`
	AdminPhone         string `json:"adminPhone"`
	AdminEmail         string `json:"adminEmail"`
	AdminPassword      string `json:"adminPassword"`
}

type answerFields struct {
	PhoneNumber           string `json:"phoneNumber"`
	Status                string `json:"status"`
	RequestID             string `json:"requestId"`
	MobileNetwork         string `json:"mobileNetwork"`
	VerificationTimestamp string `json:"verificationTimestamp"`
}

type made struct {
	EntityUID  string `json:"entityUid"`
	AdminUID   string `json:"adminUid"`
	AdminEmail string `json:"adminEmail"`
}

// ledger is the clients' record of their requests. It is on disk, one file per
// worker, so that the checker reads what was recorded before the server was killed.
type ledger struct {
	dir string

	mu    sync.Mutex
	pages int
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	return &ledger{dir: ledgerDir(t)}
}

// ledgerDir returns an empty directory for a ledger. The environment may name
// one above it, so that the ledger is on another file system than the
// database.
func ledgerDir(t *testing.T) string {
	t.Helper()
	above := os.Getenv("LINEPROOF_E2E_LEDGER")
	if above == "" {
		return t.TempDir()
	}
	dir := must(os.MkdirTemp(above, "lineproof-ledger-"))(t) //nolint:usetesting // the point is where it lies
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// page is the part of the ledger that one worker writes.
type page struct{ file *os.File }

func (l *ledger) page(tb testing.TB) *page {
	tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages++
	name := filepath.Join(l.dir, fmt.Sprintf("%06d.jsonl", l.pages))
	f := must(os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600))(tb)
	return &page{f}
}

func (p *page) write(m mark) {
	b, err := json.Marshal(m)
	if err == nil {
		_, err = p.file.Write(append(b, '\n'))
	}
	if err != nil {
		panic("e2e: the ledger cannot be written: " + err.Error()) // nothing after it would mean anything
	}
}

func (p *page) close() { _ = p.file.Close() }

// entry is everything that the ledger says about one request. A request that
// was sent again under its key has more than one end.
type entry struct {
	sent mark
	ends []mark

	hidden []mark // what the test of the checker hides from it
}

// outcome returns the best known outcome: a certain one decides.
func (e *entry) outcome() outcome {
	final := unsent
	for _, m := range e.ends {
		switch {
		case m.Outcome == okay:
			return okay
		case m.Outcome == unknown:
			final = unknown
		case m.Outcome == refused && final != unknown:
			final = refused
		}
	}
	if len(e.ends) == 0 {
		return unknown // the worker itself was killed
	}
	return final
}

// answered returns the first end that is ok.
func (e *entry) answered() mark {
	for _, m := range e.ends {
		if m.Outcome == okay {
			return m
		}
	}
	return mark{}
}

// read returns the ledger by request.
func (l *ledger) read(t *testing.T) map[string]*entry {
	t.Helper()
	book := make(map[string]*entry)
	for _, name := range must(filepath.Glob(filepath.Join(l.dir, "*.jsonl")))(t) {
		f := must(os.Open(name))(t)
		in := bufio.NewScanner(f)
		for in.Scan() {
			var m mark
			if err := json.Unmarshal(in.Bytes(), &m); err != nil {
				t.Fatalf("the ledger is damaged: %v", err)
			}
			e := book[m.ID]
			switch {
			case e == nil:
				book[m.ID] = &entry{sent: m}
			case m.Outcome != "":
				e.ends = append(e.ends, m)
			}
		}
		if err := errors.Join(in.Err(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return book
}

// tally counts a ledger by operation and outcome.
func tally(book map[string]*entry) map[string]int {
	n := make(map[string]int)
	for _, e := range book {
		operation := "verify"
		if e.sent.Applied != nil {
			operation = "onboard"
		}
		n[operation+" "+string(e.outcome())]++
	}
	return n
}

// judge returns the outcome of a request. Into receives the data of a success.
func judge(a answer, err error, into any) (outcome, string) {
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	switch {
	case errors.Is(err, errUnsent):
		return unsent, ""
	case err != nil:
		return unknown, ""
	case json.Unmarshal(a.body, &body) != nil:
		return unknown, "not an envelope"
	case a.status == http.StatusOK:
		if json.Unmarshal(body.Data, into) != nil {
			return unknown, "not the data of the operation"
		}
		return okay, ""
	}
	var problem struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(body.Data, &problem) // the code is for people
	if a.status < http.StatusInternalServerError {
		return refused, problem.Code
	}
	return unknown, problem.Code
}
