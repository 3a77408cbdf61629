package publiclog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/receipt"
)

const (
	// witnessTime is how long a witness may take. The checkpoint is published without it then.
	witnessTime = 2 * time.Second
	// maxAnswer bounds the answer of a witness: a line, or a checkpoint.
	maxAnswer = 64 << 10
)

// Witnesses asks the witnesses of a policy to sign checkpoints.
type Witnesses struct {
	Policy *receipt.Policy
	// PolicyHash is SHA-256 of the text of the policy, in hexadecimal digits.
	PolicyHash string

	client http.Client
	mu     sync.Mutex
	last   map[string]int64 // the size of the last checkpoint that each has signed, as far as we know
}

// errContradicts reports that a witness has seen another history of this log.
var errContradicts = errors.New("publiclog: a witness refuses the checkpoint, because it contradicts one that it has signed; was the database restored?")

// cosign asks all witnesses at once and returns the note with their signatures. A witness
// that does not answer is left out; one that has seen more than this, or something else, is
// an error.
func (w *Witnesses) cosign(ctx context.Context, note string, tree tlog.Tree, prove func(old int64) ([]tlog.Hash, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for name, url := range w.Policy.Witnesses() {
		all.Go(func() {
			signature, err := w.ask(ctx, name, url, note, tree, prove)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, ErrAhead) || errors.Is(err, errContradicts):
				failed = errors.Join(failed, fmt.Errorf("witness %s: %w", name, err))
			case err == nil:
				note += signature
			}
		})
	}
	all.Wait()
	return note, failed
}

// enough reports whether as many witnesses have signed a note as the policy needs.
func (w *Witnesses) enough(note string) bool {
	_, seen, err := w.Policy.Open(note)
	return err == nil && w.Policy.Satisfied(seen)
}

// ask asks one witness. If it is behind what we believe, or ahead, it says so, and is asked
// again with the proof from there.
func (w *Witnesses) ask(ctx context.Context, name, url, note string, tree tlog.Tree, prove func(old int64) ([]tlog.Hash, error)) (string, error) {
	w.mu.Lock()
	old := w.last[name]
	w.mu.Unlock()
	for range 2 {
		if old > tree.N {
			return "", ErrAhead
		}
		body, err := addRequest(old, note, tree, prove)
		if err != nil {
			return "", err
		}
		status, answer, err := w.post(ctx, url, body)
		switch {
		case err != nil:
			return "", err
		case status == http.StatusUnprocessableEntity:
			return "", errContradicts
		case status == http.StatusConflict:
			if old, err = strconv.ParseInt(strings.TrimSuffix(answer, "\n"), 10, 64); err != nil {
				return "", fmt.Errorf("publiclog: the answer of a witness: %w", err)
			}
		case status != http.StatusOK:
			return "", fmt.Errorf("publiclog: a witness answered %d", status)
		default:
			return w.accept(name, note, answer, tree)
		}
	}
	return "", errors.New("publiclog: a witness changes its mind")
}

// accept checks a signature before it is published.
func (w *Witnesses) accept(name, note, signature string, tree tlog.Tree) (string, error) {
	_, seen, err := w.Policy.Open(note + signature)
	if _, ok := seen[name]; err != nil || !ok {
		return "", errors.New("publiclog: the signature of a witness is wrong")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]int64{}
	}
	w.last[name] = tree.N
	return signature, nil
}

func addRequest(old int64, note string, tree tlog.Tree, prove func(old int64) ([]tlog.Hash, error)) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", old)
	if old > 0 && old < tree.N {
		proof, err := prove(old)
		if err != nil {
			return "", err
		}
		for _, hash := range proof {
			fmt.Fprintln(&b, hash.String())
		}
	}
	return b.String() + "\n" + note, nil
}

// Checkpoints returns the last checkpoints that the witnesses have signed, and the names of
// those that did not show one.
func (w *Witnesses) Checkpoints(ctx context.Context) (notes, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	hash := sha256.Sum256([]byte(w.Policy.Log()))
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, url := range w.Policy.Witnesses() {
		all.Go(func() {
			note, err := w.get(ctx, strings.TrimSuffix(url, "/")+"/"+hex.EncodeToString(hash[:])+"/checkpoint")
			if err == nil {
				_, _, err = w.Policy.Open(note)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, name)
				return
			}
			notes = append(notes, note)
		})
	}
	all.Wait()
	slices.Sort(silent)
	return notes, silent
}

func (w *Witnesses) get(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("publiclog: ask a witness: %w", err)
	}
	status, text, err := w.do(r)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("publiclog: a witness answered %d", status)
	}
	return text, err
}

func (w *Witnesses) post(ctx context.Context, url, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(url, "/")+"/add-checkpoint", strings.NewReader(body))
	if err != nil {
		return 0, "", fmt.Errorf("publiclog: ask a witness: %w", err)
	}
	return w.do(r)
}

func (w *Witnesses) do(r *http.Request) (status int, answer string, err error) {
	res, err := w.client.Do(r)
	if err != nil {
		return 0, "", fmt.Errorf("publiclog: ask a witness: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, "", fmt.Errorf("publiclog: ask a witness: %w", err)
	}
	return res.StatusCode, string(text), nil
}
