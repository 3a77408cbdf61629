package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// The ways in which a bucket may be asked to encrypt what it keeps.
const (
	SSENone = "none" // whatever the bucket does by itself
	SSES3   = "s3"   // with keys of the server
	SSEKMS  = "kms"  // with a key of a key management service
)

// BucketOptions says where a bucket is and how it is used. Bucket, Endpoint,
// Region, the keys and Spool are required.
type BucketOptions struct {
	Endpoint  string // such as https://s3.example.org
	Bucket    string
	Prefix    string // of every name, such as documents/
	Region    string
	AccessKey string
	SecretKey string
	SSE       string // one of the constants; empty is SSENone
	KMSKey    string // the id of the key; empty lets the server choose
	Spool     string // a directory of this machine for files on their way

	// PartSize is the size up to which a file is sent in one piece. Beyond it,
	// pieces of that size are sent one after the other; S3 takes none below 5 MiB
	// but the last. Zero is 64 MiB.
	PartSize int64

	// Patience is for how long a step that failed is tried again, and how long
	// one that moves no file may take. Idle is how long the bucket may neither
	// take nor give a byte. Zero stands for the values that are right outside of
	// tests.
	Patience, Idle time.Duration
}

const (
	usualPatience = 20 * time.Second
	usualIdle     = 15 * time.Second
	usualPart     = 64 << 20
)

// Bucket keeps files in a bucket of a server that speaks S3. Names have the form
// that they have in a [Dir], so that files can be copied from one to the other.
// It may be used by many goroutines and processes at once.
//
// The server must know conditional writes (If-None-Match); [Bucket.Check] says
// if it does not.
type Bucket struct {
	core      minio.Core
	transport *http.Transport
	sse       encrypt.ServerSide // nil for none
	o         BucketOptions
}

// OpenBucket returns the store. It does not ask the server anything: a service
// whose bucket is away must start, and do what it can without.
func OpenBucket(o BucketOptions) (*Bucket, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" {
		return nil, errors.New("blob: the endpoint of the bucket is not a URL")
	}
	if o.Patience == 0 {
		o.Patience = usualPatience
	}
	if o.Idle == 0 {
		o.Idle = usualIdle
	}
	if o.PartSize == 0 {
		o.PartSize = usualPart
	}
	b := &Bucket{transport: newTransport(o.Idle), o: o}
	switch o.SSE {
	case "", SSENone:
	case SSES3:
		b.sse = encrypt.NewSSE()
	case SSEKMS:
		if b.sse, err = encrypt.NewSSEKMS(o.KMSKey, nil); err != nil {
			return nil, fmt.Errorf("blob: encryption of the bucket: %w", err)
		}
	default:
		return nil, fmt.Errorf("blob: encryption of the bucket: there is no %q", o.SSE)
	}
	if err := makeDir(o.Spool); err != nil {
		return nil, fmt.Errorf("blob: make the directory for files on their way: %w", err)
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds:        credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""),
		Secure:       u.Scheme == "https",
		Transport:    b.transport,
		Region:       o.Region, // known, so that the library need not ask for it
		BucketLookup: minio.BucketLookupPath,
		MaxRetries:   1, // see try
	})
	if err != nil {
		return nil, fmt.Errorf("blob: open the bucket: %w", err)
	}
	b.core = *core
	return b, nil
}

// Close lets go of connections that nobody uses.
func (b *Bucket) Close() error {
	b.transport.CloseIdleConnections()
	return nil
}

// name returns the name in the bucket of a checked key.
func (b *Bucket) name(key string) string { return b.o.Prefix + pathOf(key) }

// Delete removes the file under key, or returns [ErrNotFound]. What the server
// keeps of a file that was deleted, as a bucket with versions does, is its
// owner's to settle.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if !isKey(key) {
		return ErrKey
	}
	// S3 does not say whether there was something to delete.
	if _, err := b.stat(ctx, b.name(key)); err != nil {
		return wrap("delete", err)
	}
	return wrap("delete", b.remove(ctx, b.name(key)))
}

func (b *Bucket) remove(ctx context.Context, name string) error {
	return b.try(ctx, b.o.Patience, func(ctx context.Context) error {
		return b.core.RemoveObject(ctx, b.o.Bucket, name, minio.RemoveObjectOptions{})
	})
}

func (b *Bucket) stat(ctx context.Context, name string) (info minio.ObjectInfo, err error) {
	err = b.try(ctx, b.o.Patience, func(ctx context.Context) (err error) {
		info, err = b.core.StatObject(ctx, b.o.Bucket, name, minio.StatObjectOptions{})
		return err
	})
	return info, err
}

// page is how many names are asked for at once, the most that S3 gives.
const page = 1000

// List calls each for every file, in the order of their names in the bucket. It
// asks for the next page after each has seen the last.
func (b *Bucket) List(ctx context.Context, each func(Item) error) error {
	for after := ""; ; {
		var found []minio.ObjectInfo
		err := b.try(ctx, b.o.Patience, func(ctx context.Context) (err error) {
			found, err = b.after(ctx, after)
			return err
		})
		if err != nil {
			return wrap("list", err)
		}
		for i := range found {
			key := path.Base(found[i].Key)
			if !isKey(key) || found[i].Key != b.name(key) {
				continue // not ours
			}
			if err := each(Item{Key: key, Size: found[i].Size, Modified: found[i].LastModified}); err != nil {
				return wrap("list", err)
			}
		}
		if len(found) < page {
			return nil
		}
		after = found[page-1].Key
	}
}

// after returns the first page of names that come after the given one.
func (b *Bucket) after(ctx context.Context, name string) ([]minio.ObjectInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var found []minio.ObjectInfo
	for o := range b.core.ListObjectsIter(ctx, b.o.Bucket, minio.ListObjectsOptions{
		Prefix: b.o.Prefix, Recursive: true, StartAfter: name, MaxKeys: page,
	}) {
		if o.Err != nil {
			return nil, o.Err
		}
		if found = append(found, o); len(found) == page {
			break
		}
	}
	return found, ctx.Err()
}

// Check puts a small file, holds the server to the promises that this package
// makes of it, reads the file back and deletes it.
func (b *Bucket) Check(ctx context.Context) error {
	return check(ctx, b, func(key string) error {
		info, err := b.stat(ctx, b.name(key))
		if err != nil {
			return err
		}
		if b.sse != nil && info.Metadata.Get("X-Amz-Server-Side-Encryption") == "" {
			return errors.New("the server took a file that it was asked to encrypt, and does not say that it is encrypted")
		}
		return nil
	})
}

// spool copies r into a file without a name, which is gone when it is closed,
// however the process ends.
func (b *Bucket) spool(r io.Reader) (f *os.File, info Info, err error) {
	f, err = os.CreateTemp(b.o.Spool, "put-")
	if err != nil {
		return nil, Info{}, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, Info{}, errors.Join(err, f.Close())
	}
	if info, err = hashTo(f, r); err != nil {
		return nil, Info{}, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// wrap says what failed. That nothing is there is no failure.
func wrap(what string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("blob: %s: %w", what, err)
}
