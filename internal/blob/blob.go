// Package blob keeps files under keys.
//
// It promises that a file which [Dir.Put] has reported is whole, is on disk
// under its name and keeps its content: a second Put of the same key is refused.
// A Put that fails or is cut off leaves nothing that can be opened, and what a
// killed process leaves is removed later. Keys are UUIDs and nothing else, so no
// text from outside ever becomes part of a path.
package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

var (
	// ErrNotFound says that nothing is kept under the key.
	ErrNotFound = errors.New("blob: nothing is kept under this key")
	// ErrExists says that something is kept under the key already.
	ErrExists = errors.New("blob: something is kept under this key already")
	// ErrKey says that the key is not a UUID in its usual form, in lower case.
	ErrKey = errors.New("blob: the key is not a UUID")
)

const (
	tempDir = "tmp"
	// leftoverAge is how old a temporary file must be to be nobody's. No upload
	// lasts as long.
	leftoverAge = 24 * time.Hour
)

// Info describes what was stored.
type Info struct {
	Size   int64
	SHA256 [sha256.Size]byte
}

// Dir keeps files in a directory of this machine. It may be used by many
// goroutines and processes at once. The file system must know hard links.
type Dir struct {
	root *os.Root
}

// OpenDir opens the store at dir, makes the directory if it is missing and
// removes what interrupted writes left there a day ago or earlier.
func OpenDir(dir string) (*Dir, error) {
	if err := makeDir(filepath.Clean(dir)); err != nil {
		return nil, fmt.Errorf("blob: make the directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blob: open the directory: %w", err)
	}
	d := &Dir{root: root}
	if err := d.sweep(time.Now().Add(-leftoverAge)); err != nil {
		return nil, errors.Join(fmt.Errorf("blob: remove leftovers: %w", err), root.Close())
	}
	return d, nil
}

// Close releases the directory. Files that were opened stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// Put stores what r yields under key. It refuses a key that is taken with
// [ErrExists], and passes an error of r on. When ctx ends, Put stops at the next
// read; a read that hangs must be ended by whoever owns r.
func (d *Dir) Put(ctx context.Context, key string, r io.Reader) (Info, error) {
	if !isKey(key) {
		return Info{}, ErrKey
	}
	temp := path.Join(tempDir, rand.Text())
	// After success this is a second name of the file, after an error its only
	// one. If it cannot be removed now, it is at the next start.
	defer func() { _ = d.root.Remove(temp) }()

	info, err := d.write(temp, until(ctx, r))
	if err != nil {
		return Info{}, fmt.Errorf("blob: put: %w", err)
	}
	if err := d.publish(temp, key); err != nil {
		return Info{}, fmt.Errorf("blob: put: %w", err)
	}
	return info, nil
}

// Open returns the file under key, or [ErrNotFound]. The caller closes it.
func (d *Dir) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if !isKey(key) {
		return nil, ErrKey
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("blob: open: %w", err)
	}
	f, err := d.root.Open(pathOf(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("blob: open: %w", err)
	}
	return f, nil
}

// Delete removes the file under key, or returns [ErrNotFound].
func (d *Dir) Delete(ctx context.Context, key string) error {
	if !isKey(key) {
		return ErrKey
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("blob: delete: %w", err)
	}
	name := pathOf(key)
	err := d.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err == nil {
		err = d.sync(path.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("blob: delete: %w", err)
	}
	return nil
}

// write copies r into a new file and through to the disk.
func (d *Dir) write(name string, r io.Reader) (Info, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Info{}, err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, hash), r)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return Info{}, err
	}
	return Info{Size: size, SHA256: [sha256.Size]byte(hash.Sum(nil))}, nil
}

// publish gives the file its lasting name. A link and not a rename: it fails
// where a rename would replace what is there.
func (d *Dir) publish(temp, key string) error {
	name := pathOf(key)
	leaf := path.Dir(name)
	if err := d.root.MkdirAll(leaf, 0o700); err != nil {
		return err
	}
	if err := d.root.Link(temp, name); errors.Is(err, fs.ErrExist) {
		return ErrExists
	} else if err != nil {
		return err
	}
	// All levels, always: whoever made a directory a moment ago may not have
	// written it through yet.
	err := errors.Join(d.sync(leaf), d.sync(path.Dir(leaf)), d.sync("."))
	if err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return nil
}

// sweep removes temporary files that were last written before then.
func (d *Dir) sweep(then time.Time) error {
	if err := d.root.Mkdir(tempDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := fs.ReadDir(d.root.FS(), tempDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(then) {
			err = d.root.Remove(path.Join(tempDir, entry.Name()))
		}
		// Another process may have been faster.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sync writes the names in a directory through to the disk.
func (d *Dir) sync(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
