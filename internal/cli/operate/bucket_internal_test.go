package operate

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/s3test"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The check of the bucket distinguishes a server that is unavailable from one
// that refuses. It does not show the secret, and creates no directory.
func TestBucketCheck(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	good := config.Config{
		S3Endpoint: s.URL(), S3Bucket: s3test.Bucket, S3Region: s3test.Region, S3AccessKey: s.AccessKey, S3SecretKey: secret.Text(s.SecretKey), S3SSE: "none",
		Data: "/nowhere",
	}
	for name, tc := range map[string]struct {
		change func(*config.Config)
		want   string
	}{
		"working":       {func(*config.Config) {}, "ok    bucket: files can be written, read and deleted in lineproof"},
		"unavailable":   {func(c *config.Config) { c.S3Endpoint = "http://127.0.0.1:1" }, "check LINEPROOF_S3_ENDPOINT"},
		"wrong key":     {func(c *config.Config) { c.S3SecretKey = "wrong" }, "SignatureDoesNotMatch"},
		"no bucket":     {func(c *config.Config) { c.S3Bucket = "missing" }, "NoSuchBucket"},
		"no encryption": {func(c *config.Config) { c.S3SSE = "s3" }, "does not report it as encrypted"},
	} {
		cfg := good
		tc.change(&cfg)
		r := &report{}
		r.bucket(t.Context(), cfg)
		if len(r.findings) != 1 || !strings.Contains(r.findings[0].line(), tc.want) || strings.Contains(r.findings[0].line(), s.SecretKey) {
			t.Errorf("%s: findings = %+v, want %q", name, r.findings, tc.want)
		}
	}
}
