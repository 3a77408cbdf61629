package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// isKey reports whether key is a UUID in its canonical form. Upper case is refused:
// two spellings of one key would be two files on some file systems and one on
// others.
func isKey(key string) bool {
	if len(key) != 36 {
		return false
	}
	for i := range len(key) {
		switch c := key[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// pathOf returns the path of a checked key, with two levels of directories so
// that none grows too large. They are named after the end of the key, which is
// random in every UUID; the start of ours is the time.
func pathOf(key string) string {
	return path.Join(key[34:36], key[32:34], key)
}

// makeDir creates the directory and its parents, and flushes the entry of each one
// that it created to the disk.
func makeDir(dir string) error {
	parent := filepath.Dir(dir)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.Open(parent) //nolint:gosec // the directory comes from the settings
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// withContext returns a reader of r that fails when ctx ends. It checks the context
// at the end of the input too, so that a cancelled Put never publishes a file.
func withContext(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := r.Read(p)
		if ctxErr := ctx.Err(); ctxErr != nil && (err == nil || errors.Is(err, io.EOF)) {
			return n, ctxErr
		}
		return n, err
	})
}

type readFunc func([]byte) (int, error)

// Read implements [io.Reader].
func (f readFunc) Read(p []byte) (int, error) { return f(p) }
