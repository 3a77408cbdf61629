package monitor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/platform/statefile"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/receipt"
)

// Receipts is the result of checking receipts of one's own.
type Receipts struct {
	Kept    int // the log has the answer
	Pending int // the log has promised it, and still has time
	// Wrong are files that are no receipts of this log. They say nothing about the log, which
	// anybody could blame with them.
	Wrong []string
}

// kept are the indexes of the entries of receipts that the log has, by the hash of the file.
// What it has it keeps, or the root of its tree would change.
type kept map[string]int64

func (m *Monitor) keptFile() string { return filepath.Join(m.Dir, "receipts.json") }

// checkReceipts checks that the tree has every receipt of a directory. AsOf is when the tree
// was seen.
func (m *Monitor) checkReceipts(ctx context.Context, tree tlog.Tree, asOf time.Time, r *Receipts) error {
	if m.Receipts == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(m.Receipts, "*.json"))
	if err != nil {
		return fmt.Errorf("monitor: list the receipts: %w", err)
	}
	known, err := m.loadKept()
	if err != nil {
		return err
	}
	before := len(known)
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names the directory
		if err != nil {
			return fmt.Errorf("monitor: read a receipt: %w", err)
		}
		hash := sha256.Sum256(text)
		name := hex.EncodeToString(hash[:])
		if _, ok := known[name]; ok {
			r.Kept++
			continue
		}
		index, err := m.checkReceipt(ctx, text, tree, asOf)
		switch {
		case errors.Is(err, errWrong):
			r.Wrong = append(r.Wrong, filepath.Base(file))
		case err != nil:
			return err
		case index < 0:
			r.Pending++
		default:
			known[name] = index
			r.Kept++
		}
	}
	if len(known) == before {
		return nil
	}
	return m.saveKept(known)
}

var errWrong = errors.New("monitor: it is not a receipt of this log")

// checkReceipt returns the index of the entry of a receipt, or -1 if the log does not have
// it yet.
func (m *Monitor) checkReceipt(ctx context.Context, text []byte, tree tlog.Tree, asOf time.Time) (index int64, err error) {
	r, err := receipt.Parse(text)
	if err != nil {
		return 0, errWrong
	}
	v, err := r.Verify(m.Policy)
	switch {
	case errors.Is(err, receipt.ErrNotYet):
		return m.checkPromise(ctx, r, tree, asOf)
	case err != nil:
		return 0, errWrong
	case v.Index >= tree.N && asOf.Before(v.At.Add(mergeDelay+clockSkew)):
		return -1, nil // it is newer than the checkpoint
	case v.Index >= tree.N:
		return 0, blame(r, "a receipt proves that the log had entry %d, and now it has %d entries", v.Index, tree.N)
	}
	from := m.published(ctx, tree)
	has, err := from.ReadHashes([]int64{tlog.StoredHashIndex(0, v.Index)})
	if err := from.judge(err, "a tile of the tree of size %d has other hashes than its entries", tree.N); err != nil {
		return 0, err
	}
	if has[0] != tlog.RecordHash(r.Entry()) {
		return 0, blame(r, "a receipt proves an answer by entry %d, and the log now has another entry there", v.Index)
	}
	return v.Index, nil
}

// checkPromise looks for the entry that was promised.
func (m *Monitor) checkPromise(ctx context.Context, r *receipt.Receipt, tree tlog.Tree, asOf time.Time) (index int64, err error) {
	v, err := r.VerifyPromise(m.Policy)
	if err != nil {
		return 0, errWrong
	}
	index, err = m.find(ctx, r.Entry(), v.At, tree)
	if err != nil || index >= 0 || asOf.Before(v.Until.Add(clockSkew)) {
		return index, err
	}
	return 0, blame(r, "the log has promised to have batch %d of epoch %d by %s, and does not have it", r.Batch.N, r.Batch.Epoch, v.Until.Format(time.RFC3339))
}

// blame returns a violation with what a receipt shows about the log. The personal part of
// the receipt is not for others.
func blame(r *receipt.Receipt, format string, args ...any) *Violation {
	v := violation(format, args...)
	v.Evidence["entry.txt"] = base64.StdEncoding.EncodeToString(r.Entry()) + "\n"
	for name, text := range map[string]string{"proof.txt": r.Proof, "promise.txt": r.Promise, "promise-key.txt": r.Key} {
		if text != "" {
			v.Evidence[name] = text
		}
	}
	return v
}

// find returns the index of an entry about a batch of that time, or -1. Entries are in the
// order in which batches were committed, so that their times are at most the merge delay
// out of order.
func (m *Monitor) find(ctx context.Context, entry []byte, at time.Time, tree tlog.Tree) (int64, error) {
	const full = 1 << tileHeight
	first, last := int64(0), (tree.N+full-1)/full
	for first < last {
		middle := (first + last) / 2
		_, newest, err := m.times(ctx, middle, tree.N)
		if err != nil {
			return 0, err
		}
		if newest.Before(at.Add(-2 * mergeDelay)) {
			first = middle + 1
		} else {
			last = middle
		}
	}
	for ; first*full < tree.N; first++ {
		entries, err := m.bundle(ctx, first*full, tree.N)
		if err != nil {
			return 0, err
		}
		if err := m.checkBundle(ctx, first*full, entries, tree); err != nil {
			return 0, err
		}
		for i := range entries {
			if bytes.Equal(entries[i], entry) {
				return first*full + int64(i), nil
			}
		}
		if oldest, _ := timesOf(entries); oldest.After(at.Add(2 * mergeDelay)) {
			return -1, nil
		}
	}
	return -1, nil
}

// checkBundle checks that entries from an index on are those of the tree.
func (m *Monitor) checkBundle(ctx context.Context, index int64, entries [][]byte, tree tlog.Tree) error {
	indexes := make([]int64, len(entries))
	for i := range entries {
		indexes[i] = tlog.StoredHashIndex(0, index+int64(i))
	}
	from := m.published(ctx, tree)
	hashes, err := from.ReadHashes(indexes)
	if err := from.judge(err, "a tile of the tree of size %d has other hashes than its entries", tree.N); err != nil {
		return err
	}
	for i := range entries {
		if hashes[i] != tlog.RecordHash(entries[i]) {
			return violation("entry %d is not the one of the tree of size %d", index+int64(i), tree.N)
		}
	}
	return nil
}

func (m *Monitor) times(ctx context.Context, bundle, size int64) (oldest, newest time.Time, err error) {
	entries, err := m.bundle(ctx, bundle<<tileHeight, size)
	if err != nil {
		return oldest, newest, err
	}
	oldest, newest = timesOf(entries)
	return oldest, newest, nil
}

// timesOf returns the first and the last time of batches among entries. Without one all
// times are possible.
func timesOf(entries [][]byte) (oldest, newest time.Time) {
	for _, entry := range entries {
		b, err := logentry.DecodeBatch(entry)
		if err != nil {
			continue // an entry about something else
		}
		if oldest.IsZero() || b.At.Before(oldest) {
			oldest = b.At
		}
		if b.At.After(newest) {
			newest = b.At
		}
	}
	if oldest.IsZero() {
		return oldest, time.Unix(1<<40, 0)
	}
	return oldest, newest
}

func (m *Monitor) loadKept() (kept, error) {
	text, err := os.ReadFile(m.keptFile())
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("monitor: read the state of the receipts: %w", err)
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("monitor: the state of the receipts is damaged: %w", err)
	}
	return k, nil
}

func (m *Monitor) saveKept(k kept) error {
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("monitor: write the state of the receipts: %w", err)
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return fmt.Errorf("monitor: write the state of the receipts: %w", err)
	}
	return statefile.Replace(m.keptFile(), text)
}
