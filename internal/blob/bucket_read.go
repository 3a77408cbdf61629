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

// ErrDamaged says that what came back is not what was put.
var ErrDamaged = errors.New("blob: the content is not the one that was put")

// Open returns the file under key, or [ErrNotFound]. What is read is held
// against the hash that was kept beside the file: a reader that reaches io.EOF
// has read the very bytes that were put, and one that does not lacks some. A
// connection that breaks on the way is taken up where it broke. The caller
// closes the file; when ctx ends, reading fails.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if !isKey(key) {
		return nil, ErrKey
	}
	r := &reading{Bucket: b, ctx: ctx, name: b.name(key), hash: sha256.New()}
	if err := r.connect(); err != nil {
		return nil, wrap("open", err)
	}
	return r, nil
}

// reading is a file on its way out of the bucket.
type reading struct {
	*Bucket

	ctx  context.Context //nolint:containedctx // a reader's calls have no place for it
	name string

	body   io.ReadCloser // nil after it broke
	cancel context.CancelFunc
	at     int64 // how many bytes were read
	size   int64
	etag   string
	want   string // the hash, or nothing if none was kept
	hash   hash.Hash
	broken int   // how often the connection broke since the last byte
	err    error // what every further Read returns
}

// mostBreaks is how often a connection may break without giving a byte.
const mostBreaks = 5

// connect asks for what is left of the file.
func (r *reading) connect() error {
	var o minio.GetObjectOptions
	if r.at > 0 {
		if err := errors.Join(o.SetRange(r.at, r.size-1), o.SetMatchETag(r.etag)); err != nil {
			return err
		}
	}
	// The body ends with the context of its request, so that is not the one of
	// try, which ends with the try.
	var info minio.ObjectInfo
	err := r.try(r.ctx, r.o.Patience, func(trying context.Context) (err error) {
		ctx, cancel := context.WithCancel(r.ctx)
		stop := context.AfterFunc(trying, cancel)
		r.cancel = cancel
		r.body, info, _, err = r.core.GetObject(ctx, r.o.Bucket, r.name, o)
		if !stop() && err == nil {
			err = errors.Join(trying.Err(), r.body.Close())
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
	if r.at == 0 {
		r.size, r.etag, r.want = info.Size, info.ETag, info.UserMetadata[metaSHA256]
	}
	return nil
}

// Read implements [io.Reader].
func (r *reading) Read(p []byte) (int, error) {
	for r.err == nil {
		if r.at == r.size {
			r.err = r.judge()
			break
		}
		if r.body == nil {
			if r.err = wrap("read", r.connect()); r.err != nil {
				break
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.size-r.at)])
		r.at += int64(n)
		_, _ = r.hash.Write(p[:n])
		if n > 0 {
			r.broken = 0
		}
		switch {
		case r.at == r.size:
			// The last bytes are given out only once it is known that all are right,
			// so that whoever passes them on cannot pass on a whole wrong file.
			if r.err = r.judge(); errors.Is(r.err, ErrDamaged) {
				return 0, r.err
			}
		case err != nil:
			r.interrupted(err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// interrupted lets go of a connection that ended too early.
func (r *reading) interrupted(err error) {
	r.hangUp()
	switch r.broken++; {
	case r.ctx.Err() != nil:
		r.err = fmt.Errorf("blob: read: %w", r.ctx.Err())
	case r.broken > mostBreaks:
		r.err = fmt.Errorf("blob: read: %w: %w", ErrAway, err)
	}
}

// judge returns io.EOF if what was read is what was put.
func (r *reading) judge() error {
	if r.want != "" && hex.EncodeToString(r.hash.Sum(nil)) != r.want {
		return fmt.Errorf("%w: %s", ErrDamaged, r.name)
	}
	return io.EOF
}

func (r *reading) hangUp() {
	if r.body != nil {
		r.cancel()
		_ = r.body.Close()
		r.body = nil
	}
}

// Close implements [io.Closer].
func (r *reading) Close() error {
	r.hangUp()
	if r.err == nil {
		r.err = errors.New("blob: read: the file is closed")
	}
	return nil
}
