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

// The kinds of server-side encryption.
const (
	SSENone = "none" // the default of the bucket
	SSES3   = "s3"   // with keys of the server
	SSEKMS  = "kms"  // with a key of a key management service
)

// BucketOptions are the address of a bucket and the way to use it. Bucket,
// Endpoint, Region, the keys and Spool are required.
type BucketOptions struct {
	Endpoint  string // such as https://s3.example.org
	Bucket    string
	Prefix    string // of every object key, such as documents/
	Region    string
	AccessKey string
	SecretKey string
	SSE       string // one of the constants; empty is SSENone
	KMSKey    string // the id of the key; empty lets the server choose
	Spool     string // a local directory for files being uploaded

	// PartSize is the size up to which a file is sent in one request. Larger files
	// are sent as a multipart upload with parts of that size, one after the other;
	// S3 accepts none below 5 MiB but the last. Zero is 64 MiB.
	PartSize int64

	// Timeout is for how long a failed operation is retried, and how long one that
	// transfers no file may take. Idle is how long a connection may transfer no
	// byte. Zero stands for the defaults, which are right outside of tests.
	Timeout, Idle time.Duration
}

const (
	defaultTimeout  = 20 * time.Second
	defaultIdle     = 15 * time.Second
	defaultPartSize = 64 << 20
)

// Bucket stores files in a bucket of an S3 server. Object keys have the form of the
// paths in a [Dir], so that files can be copied from one to the other. It may be
// used by many goroutines and processes at once.
//
// The server must support conditional writes (If-None-Match); [Bucket.Check] fails
// if it does not.
type Bucket struct {
	core      minio.Core
	transport *http.Transport
	sse       encrypt.ServerSide // nil for none
	o         BucketOptions
}

// OpenBucket returns the store. It does not connect to the server: the service must
// start while the bucket is unavailable, and do what it can without.
func OpenBucket(o BucketOptions) (*Bucket, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" {
		return nil, errors.New("blob: the endpoint of the bucket is not a URL")
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.PartSize == 0 {
		o.PartSize = defaultPartSize
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
		return nil, fmt.Errorf("blob: encryption of the bucket: unknown kind %q", o.SSE)
	}
	if err := makeDir(o.Spool); err != nil {
		return nil, fmt.Errorf("blob: create the directory for files being uploaded: %w", err)
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds:        credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""),
		Secure:       u.Scheme == "https",
		Transport:    b.transport,
		Region:       o.Region, // set, so that the library does not request it
		BucketLookup: minio.BucketLookupPath,
		MaxRetries:   1, // see Bucket.retry
	})
	if err != nil {
		return nil, fmt.Errorf("blob: open the bucket: %w", err)
	}
	b.core = *core
	return b, nil
}

// Close closes idle connections.
func (b *Bucket) Close() error {
	b.transport.CloseIdleConnections()
	return nil
}

// name returns the object key of a checked key.
func (b *Bucket) name(key string) string { return b.o.Prefix + pathOf(key) }

// Delete removes the file under key, or returns [ErrNotFound]. What the server
// keeps of a deleted file, as a bucket with versions does, is for the owner of the
// bucket to configure.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if !isKey(key) {
		return ErrKey
	}
	// S3 does not report whether there was an object to delete.
	if _, err := b.stat(ctx, b.name(key)); err != nil {
		return wrap("delete", err)
	}
	return wrap("delete", b.remove(ctx, b.name(key)))
}

func (b *Bucket) remove(ctx context.Context, name string) error {
	return b.retry(ctx, b.o.Timeout, func(ctx context.Context) error {
		return b.core.RemoveObject(ctx, b.o.Bucket, name, minio.RemoveObjectOptions{})
	})
}

func (b *Bucket) stat(ctx context.Context, name string) (info minio.ObjectInfo, err error) {
	err = b.retry(ctx, b.o.Timeout, func(ctx context.Context) (err error) {
		info, err = b.core.StatObject(ctx, b.o.Bucket, name, minio.StatObjectOptions{})
		return err
	})
	return info, err
}

// pageSize is the number of objects per request, the maximum of S3.
const pageSize = 1000

// List calls each for every file, in the order of the object keys. It requests the
// next page after each has been called for the last one.
func (b *Bucket) List(ctx context.Context, each func(Item) error) error {
	for after := ""; ; {
		var found []minio.ObjectInfo
		err := b.retry(ctx, b.o.Timeout, func(ctx context.Context) (err error) {
			found, err = b.listPage(ctx, after)
			return err
		})
		if err != nil {
			return wrap("list", err)
		}
		for i := range found {
			key := path.Base(found[i].Key)
			if !isKey(key) || found[i].Key != b.name(key) {
				continue // not a file of this store
			}
			if err := each(Item{Key: key, Size: found[i].Size, Modified: found[i].LastModified}); err != nil {
				return wrap("list", err)
			}
		}
		if len(found) < pageSize {
			return nil
		}
		after = found[pageSize-1].Key
	}
}

// listPage returns the page of objects after the given object key.
func (b *Bucket) listPage(ctx context.Context, name string) ([]minio.ObjectInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var found []minio.ObjectInfo
	for o := range b.core.ListObjectsIter(ctx, b.o.Bucket, minio.ListObjectsOptions{
		Prefix: b.o.Prefix, Recursive: true, StartAfter: name, MaxKeys: pageSize,
	}) {
		if o.Err != nil {
			return nil, o.Err
		}
		if found = append(found, o); len(found) == pageSize {
			break
		}
	}
	return found, ctx.Err()
}

// Check puts a small file, tests that the server does what this package relies on,
// reads the file back and deletes it.
func (b *Bucket) Check(ctx context.Context) error {
	return check(ctx, b, func(key string) error {
		info, err := b.stat(ctx, b.name(key))
		if err != nil {
			return err
		}
		if b.sse != nil && info.Metadata.Get("X-Amz-Server-Side-Encryption") == "" {
			return errors.New("the server accepted a file with a request to encrypt it, but does not report it as encrypted")
		}
		return nil
	})
}

// spool copies r into an unlinked temporary file, which the system removes when it
// is closed, however the process ends.
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

// wrap adds what failed to err. It leaves nil and ErrNotFound unchanged.
func wrap(what string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("blob: %s: %w", what, err)
}
