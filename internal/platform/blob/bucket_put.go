package blob

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
)

// The metadata of an object. The hash is compared with the content when it is read;
// the token tells the writer whether an object is the one that it sent.
const (
	metaSHA256 = "Sha256"
	metaToken  = "Mark"
)

const (
	maxParts = 10_000 // a limit of S3
	// minRate is the rate, in bytes per second, at which a transfer must proceed to
	// finish before its deadline.
	minRate = 256 << 10
	// cleanupTimeout bounds the check and the cleanup after a failed Put.
	cleanupTimeout = 5 * time.Second
)

// upload is one upload of a file to the bucket.
type upload struct {
	*Bucket

	name  string
	file  *os.File
	info  Info
	token string
}

// Put stores the content of r under key. The file is on the local disk before the
// first byte is sent: so its length and hash are in the header of the request, the
// server compares them with what arrives, and a failed attempt can be repeated.
//
// After [ErrUnavailable] it is unknown whether the file is stored. If it is, it is
// complete.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) (Info, error) {
	if !isKey(key) {
		return Info{}, ErrKey
	}
	f, info, err := b.spool(withContext(ctx, r))
	if err != nil {
		return Info{}, wrap("put", err)
	}
	defer f.Close()
	s := &upload{Bucket: b, name: b.name(key), file: f, info: info, token: rand.Text()}
	if info.Size <= b.o.PartSize {
		err = s.putSingle(ctx)
	} else {
		err = s.putMultipart(ctx)
	}
	if err = s.resolve(ctx, err); err != nil {
		return Info{}, wrap("put", err)
	}
	return info, nil
}

// options returns the options of a request that creates the object. Only the
// request that makes it visible in the bucket carries the condition.
func (s *upload) options(final bool) minio.PutObjectOptions {
	o := minio.PutObjectOptions{
		// The hash of the payload is signed, and not that of each chunk.
		DisableContentSha256: true,
		ServerSideEncryption: s.sse,
		UserMetadata:         map[string]string{metaSHA256: hex.EncodeToString(s.info.SHA256[:]), metaToken: s.token},
	}
	if final {
		o.SetMatchETagExcept("*")
	}
	return o
}

// putSingle sends the file in one request.
func (s *upload) putSingle(ctx context.Context) error {
	sum := s.info.SHA256[:]
	o := s.options(true)
	o.UserMetadata["x-amz-checksum-sha256"] = base64.StdEncoding.EncodeToString(sum)
	return s.retry(ctx, s.limit(s.info.Size), func(ctx context.Context) error {
		_, err := s.core.PutObject(ctx, s.o.Bucket, s.name, io.NewSectionReader(s.file, 0, s.info.Size), s.info.Size, "", hex.EncodeToString(sum), o)
		return err
	})
}

// putMultipart sends the file in parts. The object exists only after the last
// step.
func (s *upload) putMultipart(ctx context.Context) (err error) {
	var id string
	err = s.retry(ctx, s.o.Timeout, func(ctx context.Context) (err error) {
		id, err = s.core.NewMultipartUpload(ctx, s.o.Bucket, s.name, s.options(false))
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		// If this fails, the bucket's lifecycle rule for unfinished uploads removes it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		_ = s.core.AbortMultipartUpload(ctx, s.o.Bucket, s.name, id)
	}()
	size := max(s.o.PartSize, (s.info.Size+maxParts-1)/maxParts)
	var done []minio.CompletePart
	for at := int64(0); at < s.info.Size; at += size {
		part, err := s.part(ctx, id, len(done)+1, io.NewSectionReader(s.file, at, min(size, s.info.Size-at)))
		if err != nil {
			return err
		}
		done = append(done, minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag})
	}
	// The server assembles the parts before it responds.
	o := minio.PutObjectOptions{}
	o.SetMatchETagExcept("*")
	return s.retry(ctx, s.limit(s.info.Size), func(ctx context.Context) error {
		_, err := s.core.CompleteMultipartUpload(ctx, s.o.Bucket, s.name, id, done, o)
		return err
	})
}

func (s *upload) part(ctx context.Context, id string, number int, content *io.SectionReader) (part minio.ObjectPart, err error) {
	info, err := hashTo(io.Discard, content)
	if err != nil {
		return part, err
	}
	err = s.retry(ctx, s.limit(info.Size), func(ctx context.Context) (err error) {
		part, err = s.core.PutObjectPart(ctx, s.o.Bucket, s.name, id, number, io.NewSectionReader(content, 0, info.Size), info.Size,
			minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(info.SHA256[:]), DisableContentSha256: true})
		return err
	})
	return part, err
}

// limit is how long a transfer of that size may take.
func (s *upload) limit(size int64) time.Duration {
	return s.o.Timeout + time.Duration(size)*time.Second/minRate
}

// resolve finds out the result of an upload that ended with err. The server may
// have stored the file before the response was lost, and then rejects the second
// attempt because of the first. So it checks whether the stored file is ours.
func (s *upload) resolve(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	checkCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if stored, _ := s.isStored(checkCtx); !stored {
		return err
	}
	if ctx.Err() != nil { // the caller has cancelled
		return errors.Join(err, s.remove(checkCtx, s.name))
	}
	return nil
}

// isStored reports whether the stored object is the one that was sent.
func (s *upload) isStored(ctx context.Context) (bool, error) {
	info, err := s.stat(ctx, s.name)
	if err != nil {
		return false, err
	}
	return info.UserMetadata[metaToken] == s.token && info.UserMetadata[metaSHA256] == hex.EncodeToString(s.info.SHA256[:]) && info.Size == s.info.Size, nil
}
