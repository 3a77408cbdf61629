package receipt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

const (
	promiseForm = "lineproof promise 1"
	keyForm     = "lineproof key 1"
	keyRole     = "promise"
	// MergeDelay is how long after its time a batch may be missing in the log.
	MergeDelay = time.Minute
)

var (
	// ErrNotYet reports a receipt that has a promise and not yet a proof. VerifyPromise
	// verifies it.
	ErrNotYet = errors.New("receipt: it is a promise and not yet a proof; get the proof from the service, which has it from about a second after the answer")
	// ErrPromise reports a promise that was not signed for this answer.
	ErrPromise = errors.New("receipt: the promise is not signed for this answer by a key that the log certified, or a signature is wrong")
)

// PromiseKeyName returns the name under which a log signs promises.
func PromiseKeyName(origin string) string { return origin + "/promise" }

// PromiseText returns the text that is signed as a promise: the log will have this entry within a
// minute.
func PromiseText(origin string, entry []byte) string {
	return fmt.Sprintf("%s\n%s\n%s\n%d\n", promiseForm, origin, base64.StdEncoding.EncodeToString(entry), int(MergeDelay.Seconds()))
}

// KeyText returns the text that the key of a log signs to certify a key of promises: it signs
// promises about batches of that period.
func KeyText(origin, verifier string, from, until time.Time) string {
	return fmt.Sprintf("%s\n%s\n%s\n%s\n%d\n%d\n", keyForm, origin, keyRole, verifier, from.UnixMilli(), until.UnixMilli())
}

// Promised has the facts that a receipt without a proof promises.
type Promised struct {
	Record

	Origin string    // the name of the log
	Until  time.Time // when the log will have the answer at the latest
}

// VerifyPromise verifies a receipt that came with an answer: the log has promised to have
// this answer, and nobody can prove yet that it does. A promise that is not kept proves by
// itself, with a later checkpoint, that the log is not to be trusted.
func (r *Receipt) VerifyPromise(p *Policy) (*Promised, error) {
	record, err := r.ReadRecord()
	if err != nil {
		return nil, err
	}
	if err := r.checkPromise(p); err != nil {
		return nil, err
	}
	return &Promised{Record: record, Origin: p.Log(), Until: record.At.Add(MergeDelay)}, nil
}

// checkPromise checks that a key that the log certified has promised the batch.
func (r *Receipt) checkPromise(p *Policy) error {
	certified, err := openNote(r.Key, p.log)
	if err != nil {
		return ErrPromise
	}
	const verifier, from, until = 3, 4, 5 // lines of the certificate
	lines := strings.Split(certified, "\n")
	if len(lines) != until+2 || !slices.Equal(lines[:verifier], []string{keyForm, p.Log(), keyRole}) || lines[until+1] != "" {
		return ErrPromise
	}
	first, err1 := checkpoint.ParseNumber(lines[from])
	last, err2 := checkpoint.ParseNumber(lines[until])
	key, err3 := newLogVerifier(lines[verifier])
	if errors.Join(err1, err2, err3) != nil || first > maxNumber || last > maxNumber || key.Name() != PromiseKeyName(p.Log()) || r.Batch.At < first || r.Batch.At > last {
		return ErrPromise
	}
	promise, err := openNote(r.Promise, key)
	if err != nil || promise != PromiseText(p.Log(), r.Entry()) {
		return ErrPromise
	}
	return nil
}

// openNote returns the text of a note that a key has signed. It is read as strictly as a
// checkpoint.
func openNote(signed string, by note.Verifier) (string, error) {
	if !strictSignatures(signed) {
		return "", ErrPromise
	}
	n, err := note.Open([]byte(signed), note.VerifierList(by))
	if err != nil {
		return "", err
	}
	return n.Text, nil
}
