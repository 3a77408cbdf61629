package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

const sumsFile = "SHA256SUMS"

// writeSums writes the checksum of every file of a release, in the form that
// sha256sum --check reads.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // in the order of their names
	if err != nil {
		return fmt.Errorf("list the release: %w", err)
	}
	var b bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // a file of the release
		if err != nil {
			return fmt.Errorf("read what was built: %w", err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return writePublic(filepath.Join(dir, sumsFile), b.Bytes())
}

// Sign signs a file with an SSH key and writes the signature beside it, with the
// ending .sig. A key that an agent has is named by its public half.
func Sign(ctx context.Context, file, key string) error {
	if err := os.Remove(file + ".sig"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old signature: %w", err)
	}
	if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", key, file).CombinedOutput(); err != nil { //nolint:gosec // the caller names the key
		return fmt.Errorf("sign %s: %w\n%s", file, err, out)
	}
	return nil
}

func writePublic(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // what is published may be read by everybody
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
