package cli

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/s3test"
	"github.com/lineproof/lineproof/internal/secret"
)

// The doctor says whether the bucket does what is asked of it and, if not,
// whether it is away or refuses, without the secret; and it makes no directory.
func TestDoctorChecksTheBucket(t *testing.T) {
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
		"in order":   {func(*config.Config) {}, "ok    bucket: files can be written, read and deleted in lineproof"},
		"away":       {func(c *config.Config) { c.S3Endpoint = "http://127.0.0.1:1" }, "check LINEPROOF_S3_ENDPOINT"},
		"wrong key":  {func(c *config.Config) { c.S3SecretKey = "wrong" }, "SignatureDoesNotMatch"},
		"no bucket":  {func(c *config.Config) { c.S3Bucket = "missing" }, "NoSuchBucket"},
		"no secrecy": {func(c *config.Config) { c.S3SSE = "s3" }, "does not say that it is encrypted"},
	} {
		cfg := good
		tc.change(&cfg)
		c := &checkup{}
		c.bucket(t.Context(), cfg)
		if len(c.findings) != 1 || !strings.Contains(c.findings[0].line(), tc.want) || strings.Contains(c.findings[0].line(), s.SecretKey) {
			t.Errorf("%s: findings = %+v, want %q", name, c.findings, tc.want)
		}
	}
}
