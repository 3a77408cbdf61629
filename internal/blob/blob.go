// Package blob keeps files under keys, in a directory ([Dir]) or in a bucket of
// any server that speaks S3 ([Bucket]).
//
// It promises that a file which Put has reported is whole, is kept under its
// key and keeps its content: a second Put of the same key is refused. A Put that
// fails or is cut off leaves nothing that can be opened, unless it says that it
// does not know. Keys are UUIDs and nothing else, so no text from outside ever
// becomes part of a path.
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
	// ErrNotFound says that nothing is kept under the key.
	ErrNotFound = errors.New("blob: nothing is kept under this key")
	// ErrExists says that something is kept under the key already.
	ErrExists = errors.New("blob: something is kept under this key already")
	// ErrKey says that the key is not a UUID in its usual form, in lower case.
	ErrKey = errors.New("blob: the key is not a UUID")
)

// Store keeps files under keys. [Dir] and [Bucket] are stores, and one suite of
// tests holds both to these promises.
type Store interface {
	// Put stores what r yields under key, or refuses a key that is taken with
	// [ErrExists]. It passes an error of r on, and stops when ctx ends; a read
	// that hangs must be ended by whoever owns r.
	Put(ctx context.Context, key string, r io.Reader) (Info, error)
	// Open returns the file under key as a stream, or [ErrNotFound]. The stream
	// ends with io.EOF only after the whole file. The caller closes it.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes the file under key, or returns [ErrNotFound].
	Delete(ctx context.Context, key string) error
	// List calls each for every file that is whole, in no order, and stops at
	// its first error. Files that come or go meanwhile may be named or not.
	List(ctx context.Context, each func(Item) error) error
	// Check returns an error unless the store can be reached and lets us write,
	// read, list and delete, and not replace.
	Check(ctx context.Context) error
	// Close lets go of what the store holds. Files that were opened stay
	// readable.
	Close() error
}

// Info describes what was stored.
type Info struct {
	Size   int64
	SHA256 [sha256.Size]byte
}

// Item is one file of a store, as a list names it.
type Item struct {
	Key      string
	Size     int64
	Modified time.Time
}

// check puts a small file under a new key, holds the store to its promises and
// deletes the file. look, if there is one, may look at it more closely.
func check(ctx context.Context, s Store, look func(key string) error) (err error) {
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
		err = errors.New("other content came back")
	}
	if err != nil {
		err = fmt.Errorf("blob: check that files can be read: %w", err)
	}
	switch _, again := s.Put(ctx, key, bytes.NewReader(content)); {
	case again == nil:
		err = errors.Join(err, errors.New("blob: check that files are not replaced: a second one was taken under the same key"))
	case !errors.Is(again, ErrExists):
		err = errors.Join(err, fmt.Errorf("blob: check that files are not replaced: %w", again))
	}
	enough := errors.New("enough")
	if listed := s.List(ctx, func(Item) error { return enough }); listed != nil && !errors.Is(listed, enough) {
		err = errors.Join(err, fmt.Errorf("blob: check that files can be listed: %w", listed))
	}
	if look != nil {
		err = errors.Join(err, look(key))
	}
	if gone := s.Delete(ctx, key); gone != nil {
		err = errors.Join(err, fmt.Errorf("blob: check that files can be deleted: %w", gone))
	}
	return err
}

// hashTo copies r to w and says what it was.
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
