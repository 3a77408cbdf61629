// Package blob stores files under keys, in a directory ([Dir]) or in a bucket of
// an S3 server ([Bucket]).
//
// A file for which Put returned nil is complete, durable and never replaced: a
// second Put with the same key is refused. A Put that fails or is interrupted
// leaves nothing that can be opened, unless its error says that this is unknown.
// Keys are UUIDs and nothing else, so that no text from outside ever becomes part
// of a path.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

var (
	// ErrNotFound reports that there is no file under the key.
	ErrNotFound = errors.New("blob: there is no file under this key")
	// ErrExists reports that there is already a file under the key.
	ErrExists = errors.New("blob: there is already a file under this key")
	// ErrKey reports that the key is not a UUID in its canonical form, in lower case.
	ErrKey = errors.New("blob: the key is not a UUID")
)

// Store stores files under keys. [Dir] and [Bucket] are stores, and both pass the
// same test suite.
type Store interface {
	// Put stores the content of r under key, or returns [ErrExists] if there is a
	// file already. It returns an error of r, and stops when ctx ends; the caller
	// must end a read of r that hangs.
	Put(ctx context.Context, key string, r io.Reader) (Info, error)
	// Open returns the file under key as a stream, or [ErrNotFound]. The stream
	// ends with io.EOF only after the whole file. The caller closes it.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes the file under key, or returns [ErrNotFound].
	Delete(ctx context.Context, key string) error
	// List calls each for every complete file, in no order, and stops at its first
	// error. Files that are added or deleted at the same time may be listed or not.
	List(ctx context.Context, each func(Item) error) error
	// Check returns an error unless the store can be reached and allows writing,
	// reading, listing and deleting, and refuses replacing.
	Check(ctx context.Context) error
	// Close releases the resources of the store. Open files stay readable.
	Close() error
}

// Info describes what was stored.
type Info struct {
	Size   int64
	SHA256 [sha256.Size]byte
}

// Item is one file in a list.
type Item struct {
	Key      string
	Size     int64
	Modified time.Time
}

// check puts a small file under a new key, tests the store with it and deletes it.
// inspect, if not nil, runs further tests on the file.
func check(ctx context.Context, s Store, inspect func(key string) error) (err error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("blob: check: %w", err)
	}
	key, content := id.String(), []byte("lineproof was here\n")
	if _, err := s.Put(ctx, key, bytes.NewReader(content)); err != nil {
		return fmt.Errorf("blob: check that files can be written: %w", err)
	}
	read, err := readAll(ctx, s, key)
	if err == nil && !bytes.Equal(read, content) {
		err = errors.New("the content read differs from the content written")
	}
	if err != nil {
		err = fmt.Errorf("blob: check that files can be read: %w", err)
	}
	switch _, putErr := s.Put(ctx, key, bytes.NewReader(content)); {
	case putErr == nil:
		err = errors.Join(err, errors.New("blob: check that files are not replaced: a second one was accepted under the same key"))
	case !errors.Is(putErr, ErrExists):
		err = errors.Join(err, fmt.Errorf("blob: check that files are not replaced: %w", putErr))
	}
	enough := errors.New("enough")
	if listErr := s.List(ctx, func(Item) error { return enough }); listErr != nil && !errors.Is(listErr, enough) {
		err = errors.Join(err, fmt.Errorf("blob: check that files can be listed: %w", listErr))
	}
	if inspect != nil {
		err = errors.Join(err, inspect(key))
	}
	if deleteErr := s.Delete(ctx, key); deleteErr != nil {
		err = errors.Join(err, fmt.Errorf("blob: check that files can be deleted: %w", deleteErr))
	}
	return err
}

// hashTo copies r to w and returns its size and hash.
func hashTo(w io.Writer, r io.Reader) (Info, error) {
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(w, hash), r)
	if err != nil {
		return Info{}, err
	}
	return Info{Size: size, SHA256: [sha256.Size]byte(hash.Sum(nil))}, nil
}

func readAll(ctx context.Context, s Store, key string) ([]byte, error) {
	f, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(f)
	return content, errors.Join(err, f.Close())
}
