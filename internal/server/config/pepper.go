package config

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/secret"
)

const pepperMinBytes = 32

// Peppers returns the keys under which credentials are hashed at rest, newest
// first. If none is set, it reads the one in the data directory and creates it if
// it is missing. Processes that start at the same moment get the same one.
func (c *Config) Peppers() ([]secret.Text, error) {
	if c.PepperList != "" {
		peppers, err := parsePeppers(c.PepperList)
		if err != nil {
			return nil, fmt.Errorf("config: LINEPROOF_PEPPERS: %w", err)
		}
		return peppers, nil
	}
	path := filepath.Join(c.Data, "pepper")
	pepper, err := readPepper(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createPepper(path); err != nil {
			return nil, fmt.Errorf("config: create a pepper in LINEPROOF_DATA; set LINEPROOF_PEPPERS if the directory is not writable: %w", err)
		}
		pepper, err = readPepper(path)
	}
	if err != nil {
		return nil, fmt.Errorf("config: read the pepper in LINEPROOF_DATA: %w", err)
	}
	return []secret.Text{pepper}, nil
}

// HasPepper reports whether Peppers would find a pepper and not create one.
func (c *Config) HasPepper() bool {
	if c.PepperList != "" {
		return true
	}
	_, err := os.Lstat(filepath.Join(c.Data, "pepper"))
	return err == nil
}

// parsePeppers splits the list. Its errors number the entries and never contain
// them.
func parsePeppers(list secret.Text) ([]secret.Text, error) {
	var peppers []secret.Text
	for part := range strings.SplitSeq(list.Reveal(), ",") {
		pepper := secret.Text(strings.TrimSpace(part))
		n := len(peppers) + 1
		switch {
		case len(pepper) < pepperMinBytes:
			return nil, fmt.Errorf("entry %d is shorter than %d bytes: generate a random one", n, pepperMinBytes)
		case strings.ContainsFunc(pepper.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("entry %d contains a line break or another control character: separate the entries by commas", n)
		case slices.Contains(peppers, pepper):
			return nil, fmt.Errorf("entry %d is a duplicate: remove it", n)
		}
		peppers = append(peppers, pepper)
	}
	return peppers, nil
}

func readPepper(path string) (secret.Text, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the directory is a setting
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", errors.New("every user of this machine can access the file: run chmod 600 on it")
	}
	pepper := secret.Text(strings.TrimRight(string(raw), "\r\n"))
	if len(pepper) < pepperMinBytes {
		return "", fmt.Errorf("the file has fewer than %d bytes: restore it from a backup, because every credential hashed with it depends on it", pepperMinBytes)
	}
	return pepper, nil
}

// createPepper creates a new pepper at path unless there is one. The file is
// complete and on disk before it gets its name, and a link never replaces a file:
// so of several processes one wins, and none reads half a pepper.
func createPepper(path string) error {
	dir := filepath.Dir(path)
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".pepper-*") // O_EXCL and mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()

	var key [pepperMinBytes]byte
	_, _ = rand.Read(key[:]) // never fails: the runtime ends the process instead
	_, err = f.WriteString(base64.RawURLEncoding.EncodeToString(key[:]) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// If a power cut lost the file's name, hashes made with the pepper could never
	// be checked. So the directory is flushed, and its parent too if the directory
	// is new.
	if err := syncDir(dir); err != nil || missing == nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the directory is a setting
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
