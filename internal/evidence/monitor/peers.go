package monitor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// checkPeers compares the tree with what others have seen of the log: the witnesses of the
// policy, and peers. A log that shows them another history is found also if its owner has
// won enough witnesses over. One that can't be reached is reported and does not stop the
// others.
func (m *Monitor) checkPeers(ctx context.Context, tree tlog.Tree, r *Report) error {
	hash := sha256.Sum256([]byte(m.Policy.Log()))
	others := map[string]string{} // their names by where their checkpoint is
	for name, url := range m.Policy.Witnesses() {
		others[strings.TrimSuffix(url, "/")+"/"+hex.EncodeToString(hash[:])] = "witness " + name
	}
	for _, url := range m.Peers {
		others[url] = "peer " + url
	}
	for _, url := range slices.Sorted(maps.Keys(others)) {
		signed, err := Source(url).Checkpoint(ctx)
		if err == nil {
			err = m.compare(ctx, tree, others[url], signed)
		}
		if _, found := errors.AsType[*Violation](err); found {
			return err
		}
		if err != nil {
			r.Unreachable = append(r.Unreachable, others[url])
			continue
		}
		r.Compared++
	}
	return nil
}

// compare compares the tree with a checkpoint that somebody else has seen.
func (m *Monitor) compare(ctx context.Context, tree tlog.Tree, who, signed string) error {
	text, _, err := m.Policy.Open(signed)
	if err != nil {
		return fmt.Errorf("monitor: %s shows no checkpoint of this log: %w", who, err)
	}
	origin, other, err := checkpoint.Parse(text)
	if err != nil || origin != m.Policy.Log() {
		return fmt.Errorf("monitor: %s shows no checkpoint of this log", who)
	}
	if other.N == 0 {
		return nil
	}
	older, newer := other, tree
	if older.N > newer.N {
		older, newer = newer, older
	}
	if older.N == newer.N && older.Hash == newer.Hash || older.N == 0 {
		return nil
	}
	from := m.published(ctx, newer)
	proof, err := tlog.ProveTree(newer.N, older.N, from)
	if err == nil {
		err = tlog.CheckTree(proof, newer.N, newer.Hash, older.N, older.Hash)
	}
	err = from.judge(err, "%s has seen a checkpoint of size %d that does not belong to the same history as that of size %d", who, other.N, tree.N)
	if v, ok := errors.AsType[*Violation](err); ok {
		v.Evidence["checkpoint-of-another.txt"] = signed
	}
	return err
}
