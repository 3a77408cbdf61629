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

	"github.com/lineproof/lineproof/internal/secret"
)

const pepperMinBytes = 32

// Peppers returns the keys under which credentials are hashed at rest, newest
// first. When none is set, it reads the one in the data directory and makes it
// if it is not there. Processes that start at the same moment get the same one.
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
		if err := makePepper(path); err != nil {
			return nil, fmt.Errorf("config: make a pepper in LINEPROOF_DATA; set LINEPROOF_PEPPERS if the directory cannot hold one: %w", err)
		}
		pepper, err = readPepper(path)
	}
	if err != nil {
		return nil, fmt.Errorf("config: read the pepper in LINEPROOF_DATA: %w", err)
	}
	return []secret.Text{pepper}, nil
}

// HasPepper reports whether Peppers would find one and not have to make it.
func (c *Config) HasPepper() bool {
	if c.PepperList != "" {
		return true
	}
	_, err := os.Lstat(filepath.Join(c.Data, "pepper"))
	return err == nil
}

// parsePeppers splits the list. Its errors count entries and never show them.
func parsePeppers(list secret.Text) ([]secret.Text, error) {
	var peppers []secret.Text
	for part := range strings.SplitSeq(list.Reveal(), ",") {
		pepper := secret.Text(strings.TrimSpace(part))
		n := len(peppers) + 1
		switch {
		case len(pepper) < pepperMinBytes:
			return nil, fmt.Errorf("entry %d is shorter than %d bytes: make one with a generator of random text", n, pepperMinBytes)
		case strings.ContainsFunc(pepper.Reveal(), func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("entry %d contains a line break or another control character: separate the entries by commas", n)
		case slices.Contains(peppers, pepper):
			return nil, fmt.Errorf("entry %d stands in the list before: remove it", n)
		}
		peppers = append(peppers, pepper)
	}
	return peppers, nil
}

func readPepper(path string) (secret.Text, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names the directory
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", errors.New("every user of this machine can reach the file: run chmod 600 on it")
	}
	pepper := secret.Text(strings.TrimRight(string(raw), "\r\n"))
	if len(pepper) < pepperMinBytes {
		return "", fmt.Errorf("the file holds fewer than %d bytes: restore it from a backup, for everything hashed under it depends on it", pepperMinBytes)
	}
	return pepper, nil
}

// makePepper puts a new pepper at path unless one is there. The text is whole
// and on disk before it gets its name, and a link never replaces a file, so of
// several processes one wins and nobody reads half a pepper.
func makePepper(path string) error {
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
	// A name that a power cut takes away again would leave hashes nobody can
	// check, so what changed is written through: the directory, and the one
	// above it when this made the directory.
	if err := syncDir(dir); err != nil || missing == nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
