package config_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server/config"
)

// No setting with an address lets the service talk to another machine without TLS that verifies it, unless the
// operator says so by name. A setting that is added has to be added here.
func TestOtherMachinesNeedVerifiedTLS(t *testing.T) {
	t.Parallel()
	type addresses struct {
		unsafe, safe []string
		allowedBy    string // the entry of LINEPROOF_UNVERIFIED_PEERS; "" for none
		with         []string
	}
	mail := []string{"LINEPROOF_MAIL_FROM=a@b.example", "LINEPROOF_PUBLIC_URL=https://lineproof.example"}
	bucket := []string{"LINEPROOF_S3_BUCKET=files", "LINEPROOF_S3_ACCESS_KEY=k", "LINEPROOF_S3_SECRET_KEY=s"}
	all := map[string]addresses{
		"LINEPROOF_DATABASE_URL":      {[]string{"postgres://u@db.example/d", "host=db.example sslmode=require"}, []string{"postgres://u@db.example/d?sslmode=verify-full", "host=/tmp"}, "database", nil},
		"LINEPROOF_READ_DATABASE_URL": {[]string{"postgres://u@db.example/d", "postgres://u@127.0.0.1,db.example/d"}, []string{"postgres://u@db.example/d?sslmode=verify-full", "postgres://u@127.0.0.1/d"}, "database", nil},
		"LINEPROOF_REDIS_URL":         {[]string{"redis://redis.example:6379", "rediss://redis.example?skip_verify=true"}, []string{"rediss://redis.example:6379", "redis://127.0.0.1"}, "redis", nil},
		"LINEPROOF_CLAMD_ADDR":        {[]string{"scanner.example:3310"}, []string{"127.0.0.1:3310", "unix:/run/clamd.ctl"}, "scanner", nil},
		"LINEPROOF_TRACES_ENDPOINT":   {[]string{"http://traces.example:4318"}, []string{"https://traces.example", "http://127.0.0.1:4318"}, "traces", nil},
		"LINEPROOF_S3_ENDPOINT":       {[]string{"http://s3.example"}, []string{"https://s3.example", "http://127.0.0.1:9000"}, "", bucket},
		"LINEPROOF_REPORT_URL":        {[]string{"http://reports.example/csp"}, []string{"https://reports.example/csp"}, "", nil},
		"LINEPROOF_PUBLIC_URL":        {[]string{"http://lineproof.example"}, []string{"https://lineproof.example", "http://localhost:8080"}, "", nil},
		"LINEPROOF_SMTP_URL":          {nil, []string{"smtp://mail.example", "smtps://mail.example"}, "", mail}, // nothing is sent without TLS, see TestNothingIsSentInTheClear
	}
	for _, found := range regexp.MustCompile("`(LINEPROOF_[A-Z0-9_]+_(?:URL|ENDPOINT|ADDR))`").FindAllStringSubmatch(config.Reference(), -1) {
		if _, ok := all[found[1]]; !ok {
			t.Errorf("%s is not in this test", found[1])
		}
	}
	for name, a := range all {
		for _, value := range a.safe {
			load(t, append(slices.Clone(a.with), name+"="+value)...)
		}
		for _, value := range a.unsafe {
			environ := append(slices.Clone(a.with), name+"="+value)
			if got := complaintsOf(t, environ...); len(got) != 1 || !strings.HasPrefix(got[0], name) || strings.Contains(got[0], "example:") {
				t.Errorf("%s=%s: %q", name, value, got)
			}
			if a.allowedBy != "" {
				load(t, append(environ, "LINEPROOF_UNVERIFIED_PEERS=database,redis,scanner,traces")...)
				load(t, append(environ, "LINEPROOF_UNVERIFIED_PEERS="+a.allowedBy)...)
			}
			for _, other := range []string{"database", "redis", "scanner", "traces"} {
				if other != a.allowedBy {
					complaintsOf(t, append(environ, "LINEPROOF_UNVERIFIED_PEERS="+other)...)
				}
			}
		}
	}
	if got := complaintsOf(t, "LINEPROOF_UNVERIFIED_PEERS=database,everything"); len(got) != 1 || !strings.HasPrefix(got[0], "LINEPROOF_UNVERIFIED_PEERS lists something else") {
		t.Errorf("an unknown part: %q", got)
	}
}
