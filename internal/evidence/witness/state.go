package witness

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/platform/statefile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// state keeps the last checkpoint of each log in a file of a directory.
type state struct{ dir string }

// seen is the last checkpoint of a log.
type seen struct {
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	Root   string `json:"root"` // base64
	Note   string `json:"note"` // with the cosignature
}

// root returns the root. It is checked when it is read.
func (s *seen) root() (hash tlog.Hash) {
	raw, err := base64.StdEncoding.DecodeString(s.Root)
	if err == nil {
		copy(hash[:], raw)
	}
	return hash
}

func openState(dir string) (*state, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("witness: create the directory of the state: %w", err)
	}
	return &state{dir}, nil
}

// HashOf returns the hash by which a log is named in a path.
func HashOf(origin string) string {
	hash := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(hash[:])
}

func (s *state) path(origin string) string { return filepath.Join(s.dir, HashOf(origin)+".json") }

// read returns the last checkpoint of a log. A file that can't be read is an error: to begin
// again would be to forget what was signed.
func (s *state) read(origin string) (last seen, err error) {
	text, err := os.ReadFile(s.path(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return seen{Origin: origin}, nil
	}
	if err != nil {
		return last, fmt.Errorf("witness: read the state: %w", err)
	}
	if err := json.Unmarshal(text, &last); err != nil {
		return last, fmt.Errorf("witness: the state is damaged: %w", err)
	}
	if raw, err := base64.StdEncoding.DecodeString(last.Root); last.Origin != origin || err != nil || len(raw) != tlog.HashSize {
		return last, errors.New("witness: the state is damaged")
	}
	return last, nil
}

// write replaces the last checkpoint, durably.
func (s *state) write(origin string, tree tlog.Tree, note string) error {
	text, err := json.Marshal(seen{origin, tree.N, base64.StdEncoding.EncodeToString(tree.Hash[:]), note})
	if err != nil {
		return fmt.Errorf("witness: write the state: %w", err)
	}
	return fault.Wrap(statefile.Replace(s.path(origin), text), "witness: write the state")
}
