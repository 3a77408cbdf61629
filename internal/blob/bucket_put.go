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

// What is kept beside a file in the bucket. The hash is held against what is
// read; the mark tells the writer whether a file is the one that it sent.
const (
	metaSHA256 = "Sha256"
	metaMark   = "Mark"
)

const (
	mostParts = 10_000 // a rule of S3
	// slowest is the rate, in bytes a second, that a transfer must keep to be
	// done in time.
	slowest = 256 << 10
	// aftermath is how long a Put that failed may look and tidy up.
	aftermath = 5 * time.Second
)

// sending is a file on its way into the bucket.
type sending struct {
	*Bucket

	name string
	file *os.File
	info Info
	mark string
}

// Put stores what r yields under key. The file is on disk before the first byte
// is sent: its length and its hash stand at the head of the request, the server
// holds them against what arrives, and a try that broke can be repeated.
//
// An error that is [ErrAway] leaves open whether the file is there. If it is, it
// is whole.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) (Info, error) {
	if !isKey(key) {
		return Info{}, ErrKey
	}
	f, info, err := b.spool(until(ctx, r))
	if err != nil {
		return Info{}, wrap("put", err)
	}
	defer f.Close()
	s := &sending{Bucket: b, name: b.name(key), file: f, info: info, mark: rand.Text()}
	if info.Size <= b.o.PartSize {
		err = s.whole(ctx)
	} else {
		err = s.parts(ctx)
	}
	if err = s.settle(ctx, err); err != nil {
		return Info{}, wrap("put", err)
	}
	return info, nil
}

// options are those of a request that makes the file. Only the one that names it
// in the bucket carries the condition.
func (s *sending) options(publishes bool) minio.PutObjectOptions {
	o := minio.PutObjectOptions{
		// The payload's own hash is signed, and not that of each chunk.
		DisableContentSha256: true,
		ServerSideEncryption: s.sse,
		UserMetadata:         map[string]string{metaSHA256: hex.EncodeToString(s.info.SHA256[:]), metaMark: s.mark},
	}
	if publishes {
		o.SetMatchETagExcept("*")
	}
	return o
}

// whole sends the file in one piece.
func (s *sending) whole(ctx context.Context) error {
	sum := s.info.SHA256[:]
	o := s.options(true)
	o.UserMetadata["x-amz-checksum-sha256"] = base64.StdEncoding.EncodeToString(sum)
	return s.try(ctx, s.limit(s.info.Size), func(ctx context.Context) error {
		_, err := s.core.PutObject(ctx, s.o.Bucket, s.name, io.NewSectionReader(s.file, 0, s.info.Size), s.info.Size, "", hex.EncodeToString(sum), o)
		return err
	})
}

// parts sends the file piece by piece. Until the last step there is no file
// under the name.
func (s *sending) parts(ctx context.Context) (err error) {
	var id string
	err = s.try(ctx, s.o.Patience, func(ctx context.Context) (err error) {
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
		// If this fails, the rule of the bucket for unfinished uploads removes it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), aftermath)
		defer cancel()
		_ = s.core.AbortMultipartUpload(ctx, s.o.Bucket, s.name, id)
	}()
	size := max(s.o.PartSize, (s.info.Size+mostParts-1)/mostParts)
	var done []minio.CompletePart
	for at := int64(0); at < s.info.Size; at += size {
		part, err := s.part(ctx, id, len(done)+1, io.NewSectionReader(s.file, at, min(size, s.info.Size-at)))
		if err != nil {
			return err
		}
		done = append(done, minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag})
	}
	// The server puts the pieces together before it answers.
	o := minio.PutObjectOptions{}
	o.SetMatchETagExcept("*")
	return s.try(ctx, s.limit(s.info.Size), func(ctx context.Context) error {
		_, err := s.core.CompleteMultipartUpload(ctx, s.o.Bucket, s.name, id, done, o)
		return err
	})
}

func (s *sending) part(ctx context.Context, id string, number int, content *io.SectionReader) (part minio.ObjectPart, err error) {
	info, err := hashTo(io.Discard, content)
	if err != nil {
		return part, err
	}
	err = s.try(ctx, s.limit(info.Size), func(ctx context.Context) (err error) {
		part, err = s.core.PutObjectPart(ctx, s.o.Bucket, s.name, id, number, io.NewSectionReader(content, 0, info.Size), info.Size,
			minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(info.SHA256[:]), DisableContentSha256: true})
		return err
	})
	return part, err
}

// limit is how long a transfer of that size may take.
func (s *sending) limit(size int64) time.Duration {
	return s.o.Patience + time.Duration(size)*time.Second/slowest
}

// settle makes up its mind about a transfer that ended with err. A server may
// have kept the file and not come to say so, and a second try of ours is then
// refused because of the first. So it looks whose file is there.
func (s *sending) settle(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), aftermath)
	defer cancel()
	if ours, _ := s.ours(looking); !ours {
		return err
	}
	if ctx.Err() != nil { // whoever wanted it is gone
		return errors.Join(err, s.remove(looking, s.name))
	}
	return nil
}

// ours reports whether the file under the name is the one that was sent.
func (s *sending) ours(ctx context.Context) (bool, error) {
	info, err := s.stat(ctx, s.name)
	if err != nil {
		return false, err
	}
	return info.UserMetadata[metaMark] == s.mark && info.UserMetadata[metaSHA256] == hex.EncodeToString(s.info.SHA256[:]) && info.Size == s.info.Size, nil
}
