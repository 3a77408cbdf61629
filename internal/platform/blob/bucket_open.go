package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/minio/minio-go/v7"
)

// ErrDamaged reports that the content read differs from what was put.
var ErrDamaged = errors.New("blob: the content differs from what was put")

// Open returns the file under key, or [ErrNotFound]. The content is
// compared with the hash in the metadata: a reader that reaches io.EOF has read
// exactly the bytes that were put. If the connection breaks, a new one continues
// at the same offset. The caller closes the file; when ctx ends, reading fails.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if !isKey(key) {
		return nil, ErrKey
	}
	r := &download{Bucket: b, ctx: ctx, name: b.name(key), hash: sha256.New()}
	if err := r.connect(); err != nil {
		return nil, wrap("open", err)
	}
	return r, nil
}

// download is one download of a file.
type download struct {
	*Bucket

	ctx  context.Context //nolint:containedctx // io.Reader has no parameter for it
	name string

	body     io.ReadCloser // nil while not connected
	cancel   context.CancelFunc
	offset   int64 // bytes read so far
	size     int64
	etag     string
	wantHash string // of the metadata; empty if there is none
	hash     hash.Hash
	failures int   // of the connection since the last byte
	err      error // the result of every further Read
}

// maxFailures is how often in a row the connection may fail without a byte.
const maxFailures = 5

// connect requests the rest of the file.
func (r *download) connect() error {
	var o minio.GetObjectOptions
	if r.offset > 0 {
		if err := errors.Join(o.SetRange(r.offset, r.size-1), o.SetMatchETag(r.etag)); err != nil {
			return err
		}
	}
	// The body ends with the context of its request, so the request does not use the
	// context of retry, which ends with the attempt.
	var info minio.ObjectInfo
	err := r.retry(r.ctx, r.o.Timeout, func(attemptCtx context.Context) (err error) {
		ctx, cancel := context.WithCancel(r.ctx)
		stop := context.AfterFunc(attemptCtx, cancel)
		r.cancel = cancel
		r.body, info, _, err = r.core.GetObject(ctx, r.o.Bucket, r.name, o)
		if !stop() && err == nil {
			err = errors.Join(attemptCtx.Err(), r.body.Close())
		}
		if err != nil {
			r.body = nil
			cancel()
		}
		return err
	})
	if err != nil {
		return err
	}
	if r.offset == 0 {
		r.size, r.etag, r.wantHash = info.Size, info.ETag, info.UserMetadata[metaSHA256]
	}
	return nil
}

// Read implements [io.Reader].
func (r *download) Read(p []byte) (int, error) {
	for r.err == nil {
		if r.offset == r.size {
			r.err = r.verify()
			break
		}
		if r.body == nil {
			if r.err = wrap("read", r.connect()); r.err != nil {
				break
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.size-r.offset)])
		r.offset += int64(n)
		_, _ = r.hash.Write(p[:n])
		if n > 0 {
			r.failures = 0
		}
		switch {
		case r.offset == r.size:
			// The last bytes are returned only after the hash was checked, so that a
			// caller that passes them on never passes on a complete wrong file.
			if r.err = r.verify(); errors.Is(r.err, ErrDamaged) {
				return 0, r.err
			}
		case err != nil:
			r.disconnected(err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// disconnected closes a connection that ended too early.
func (r *download) disconnected(err error) {
	r.closeBody()
	switch r.failures++; {
	case r.ctx.Err() != nil:
		r.err = fmt.Errorf("blob: read: %w", r.ctx.Err())
	case r.failures > maxFailures:
		r.err = fmt.Errorf("blob: read: %w: %w", ErrUnavailable, err)
	}
}

// verify returns io.EOF if the content matches its hash.
func (r *download) verify() error {
	if r.wantHash != "" && hex.EncodeToString(r.hash.Sum(nil)) != r.wantHash {
		return fmt.Errorf("%w: %s", ErrDamaged, r.name)
	}
	return io.EOF
}

func (r *download) closeBody() {
	if r.body != nil {
		r.cancel()
		_ = r.body.Close()
		r.body = nil
	}
}

// Close implements [io.Closer].
func (r *download) Close() error {
	r.closeBody()
	if r.err == nil {
		r.err = errors.New("blob: read: the file is closed")
	}
	return nil
}
