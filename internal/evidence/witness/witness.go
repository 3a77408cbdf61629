// Package witness is a witness of public logs, as c2sp.org/tlog-witness describes it: it
// signs a checkpoint only if it continues the last one that it has signed. A log whose
// checkpoints have the signatures of witnesses that are independent of it can't show
// different histories to different people.
//
// Its whole state is a file for each log with the last size and root, which is durable
// before a signature leaves.
package witness

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// Witness signs checkpoints of logs that it knows.
type Witness struct {
	key   *Key
	logs  map[string][]note.Verifier // the keys of each log, by its origin; while a key is replaced there are two
	state *state
	Now   func() time.Time // the time in its signatures; time.Now unless a test changes it

	mu sync.Mutex // one checkpoint at a time
}

// Open opens a witness with a key, the public keys of the logs that it watches, and the
// directory of its state. A checkpoint needs a signature of one of the keys of its log.
func Open(key *Key, logs []string, dir string) (*Witness, error) {
	w := &Witness{key: key, logs: map[string][]note.Verifier{}, Now: time.Now}
	for _, text := range logs {
		v, err := note.NewVerifier(text)
		if err != nil {
			return nil, fmt.Errorf("witness: the key of a log: %w", err)
		}
		w.logs[v.Name()] = append(w.logs[v.Name()], v)
	}
	var err error
	w.state, err = openState(dir)
	return w, err
}

// The errors of [Witness.Add], with what the protocol answers.
var (
	errRequest  = errors.New("witness: the request is not in the form of c2sp.org/tlog-witness") // 400
	errUnsigned = errors.New("witness: the checkpoint is not signed by its log")                 // 403
	errUnknown  = errors.New("witness: this log is not known here")                              // 404
	errProof    = errors.New("witness: the checkpoint does not continue the last one")           // 422
)

// conflict reports that the last checkpoint has another size than the caller believes. It
// is answered with 409 and that size.
type conflict struct{ size int64 }

// Error implements error.
func (c *conflict) Error() string {
	return fmt.Sprintf("witness: the last checkpoint has the size %d", c.size)
}

// Add takes a request: a line old with the size of the last checkpoint, the proof that the
// new one continues it, an empty line, and the new checkpoint. It returns the cosignature.
func (w *Witness) Add(request string) (string, error) {
	old, proof, signed, err := readRequest(request)
	if err != nil {
		return "", err
	}
	origin, _, _ := strings.Cut(signed, "\n")
	keys := w.logs[origin]
	if keys == nil {
		return "", errUnknown
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(keys...))
	if err != nil {
		return "", errUnsigned
	}
	_, tree, err := checkpoint.Parse(opened.Text)
	if err != nil || old > tree.N {
		return "", errRequest
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.state.read(origin)
	if err != nil {
		return "", err
	}
	switch {
	case last.Size != old:
		return "", &conflict{last.Size}
	case tree.N == old && last.Size > 0 && tree.Hash != last.root():
		return "", errProof
	case tree.N > old && old > 0 && tlog.CheckTree(proof, tree.N, tree.Hash, old, last.root()) != nil,
		(old == 0 || tree.N == old) && len(proof) > 0:
		return "", errProof
	}
	signature, err := w.key.cosign(opened.Text, w.Now())
	if err != nil {
		return "", err
	}
	// What was signed must be remembered whatever happens: a witness that forgets could sign
	// another history.
	if err := w.state.write(origin, tree, signed+signature); err != nil {
		return "", err
	}
	return signature, nil
}

// Checkpoint returns the last checkpoint of a log with the cosignature of this witness, for
// monitors; empty if there is none. The log is named by the hash of its origin.
func (w *Witness) Checkpoint(originHash string) (string, error) {
	for origin := range w.logs {
		if HashOf(origin) == originHash {
			last, err := w.state.read(origin)
			return last.Note, err
		}
	}
	return "", errUnknown
}

func readRequest(request string) (old int64, proof []tlog.Hash, signed string, err error) {
	head, signed, found := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	text, isOld := strings.CutPrefix(lines[0], "old ")
	old, err = checkpoint.ParseNumber(text)
	const most = 63 // hashes that a proof can have
	if err != nil || !found || !isOld || len(lines) > 1+most {
		return 0, nil, "", errRequest
	}
	for _, line := range lines[1:] {
		hash, err := checkpoint.ParseHash(line)
		if err != nil {
			return 0, nil, "", errRequest
		}
		proof = append(proof, hash)
	}
	return old, proof, signed, nil
}
