package clamtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// headerBytes is the length of the header of a signature file, padded with spaces.
const headerBytes = 512

// SetDate restarts the server with a daily signature file that was made at a time, as
// freshclam leaves one: from then on the server reports the date.
func (s *Server) SetDate(ctx context.Context, made time.Time) error {
	file, err := dailyFile(made)
	if err != nil {
		return fmt.Errorf("clamtest: make a signature file: %w", err)
	}
	if err := errors.Join(s.Kill(), os.WriteFile(filepath.Join(s.dir, "base", "daily.cud"), file, 0o600)); err != nil {
		return err
	}
	return s.Restart(ctx)
}

// dailyFile returns a daily signature file in ClamAV's unsigned form: a header with the
// date, and a compressed archive with a list of contents and one signature that no file
// matches.
func dailyFile(made time.Time) ([]byte, error) {
	const signatures = "Lineproof.Daily:0:*:4c494e4550524f4f462d4f462d414e4f5448455220444159\n"
	header := func(sum string) string {
		made = made.UTC()
		return fmt.Sprintf("ClamAV-VDB:%s:27345:1:90:%s:none:lineproof:%d", made.Format("02 Jan 2006 15-04 -0700"), sum, made.Unix())
	}
	info := fmt.Sprintf("%s\ndaily.ndb:%d:%x\n", header("X"), len(signatures), sha256.Sum256([]byte(signatures)))
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for _, f := range []struct{ name, content string }{{"daily.info", info}, {"daily.ndb", signatures}} {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.content)), Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(f.content)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return nil, err
	}
	head := header(fmt.Sprintf("%x", md5.Sum(packed.Bytes()))) // the format has it
	return fmt.Appendf(nil, "%-*s%s", headerBytes, head, packed.Bytes()), nil
}
