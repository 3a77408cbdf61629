// Package statefile keeps the state of a program in a file.
package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Replace writes a file, and replaces the one that is there. When it returns nil, the new
// content survives a power cut; before that, the old one does.
func Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return fmt.Errorf("statefile: create: %w", err)
	}
	defer os.Remove(f.Name()) // after the renaming there is none
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("statefile: write: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("statefile: replace: %w", err)
	}
	d, err := os.Open(dir) //nolint:gosec // the caller's directory
	if err != nil {
		return fmt.Errorf("statefile: flush the directory: %w", err)
	}
	return fault.Wrap(errors.Join(d.Sync(), d.Close()), "statefile: flush the directory")
}
