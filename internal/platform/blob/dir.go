package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	tempDir = "tmp"
	// leftoverAge is how old a temporary file must be before it is removed. No
	// upload takes as long.
	leftoverAge = 24 * time.Hour
)

// Dir stores files in a local directory. It may be used by many goroutines and
// processes at once. The file system must support hard links.
type Dir struct {
	root *os.Root
}

// OpenDir opens the store at dir, creates the directory if it is missing and
// removes temporary files of interrupted writes that are older than a day.
func OpenDir(dir string) (*Dir, error) {
	if err := makeDir(filepath.Clean(dir)); err != nil {
		return nil, fmt.Errorf("blob: create the directory: %w", err)
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

// Close releases the directory. Open files stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// Put stores the content of r under key. It returns [ErrExists] if there is a file
// already, and returns an error of r. When ctx ends, Put stops at the next read;
// the caller must end a read of r that hangs.
func (d *Dir) Put(ctx context.Context, key string, r io.Reader) (Info, error) {
	if !isKey(key) {
		return Info{}, ErrKey
	}
	temp := path.Join(tempDir, rand.Text())
	// After success this is a second name of the file, after an error its only one.
	// If it cannot be removed now, a later OpenDir removes it.
	defer func() { _ = d.root.Remove(temp) }()

	info, err := d.write(temp, withContext(ctx, r))
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
	return fault.Wrap(err, "blob: delete")
}

// List calls each for every complete file, in no order, and stops at its first
// error. Files that are added or deleted at the same time may be listed or not.
func (d *Dir) List(ctx context.Context, each func(Item) error) error {
	err := fs.WalkDir(d.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		// Deleted after its directory was read.
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		key := path.Base(name)
		if e.IsDir() || !isKey(key) || name != pathOf(key) {
			return nil // not a file of this store, or not complete yet
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(Item{Key: key, Size: info.Size(), Modified: info.ModTime()})
	})
	return fault.Wrap(err, "blob: list")
}

// Check puts a small file, reads it back and deletes it.
func (d *Dir) Check(ctx context.Context) error { return check(ctx, d, nil) }

// write copies r into a new file and flushes it to the disk.
func (d *Dir) write(name string, r io.Reader) (Info, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Info{}, err
	}
	info, err := hashTo(f, r)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return Info{}, err
	}
	return info, nil
}

// publish gives the file its final name. It uses a link, because a rename would
// replace an existing file.
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
	// All levels, always: another process may have created a directory a moment ago
	// and not flushed it yet.
	err := errors.Join(d.sync(leaf), d.sync(path.Dir(leaf)), d.sync("."))
	if err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return nil
}

// sweep removes temporary files that were last modified before the given time.
func (d *Dir) sweep(before time.Time) error {
	if err := d.root.Mkdir(tempDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := fs.ReadDir(d.root.FS(), tempDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(before) {
			err = d.root.Remove(path.Join(tempDir, entry.Name()))
		}
		// Another process may have removed it.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sync flushes the entries of a directory to the disk.
func (d *Dir) sync(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
