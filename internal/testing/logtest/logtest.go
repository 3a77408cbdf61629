// Package logtest has what the tests of the public log share.
package logtest

import (
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
)

// NewKey returns a new key of a log or a witness.
func NewKey(tb testing.TB, name string) *logkey.Key {
	tb.Helper()
	key, _ := NewKeyFile(tb, name)
	return key
}

// NewKeyFile returns a new key and its file.
func NewKeyFile(tb testing.TB, name string) (key *logkey.Key, file string) {
	tb.Helper()
	file = filepath.Join(tb.TempDir(), "key")
	if err := logkey.Create(file); err != nil {
		tb.Fatal(err)
	}
	key, err := logkey.Open(tb.Context(), file, name)
	if err != nil {
		tb.Fatal(err)
	}
	return key, file
}

// Hashes are the hashes of a tree as package tlog stores them.
type Hashes []tlog.Hash

// With returns the hashes of the tree with one more entry.
func (h Hashes) With(tb testing.TB, n int64, entry []byte) Hashes {
	tb.Helper()
	added, err := tlog.StoredHashes(n, entry, h)
	if err != nil {
		tb.Fatal(err)
	}
	return append(h, added...)
}

// ReadHashes implements tlog.HashReader.
func (h Hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	all := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		all[i] = h[n]
	}
	return all, nil
}
