package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/server/config"
)

// complaintsOf loads environ, which must fail, and returns the problems.
func complaintsOf(t *testing.T, environ ...string) []string {
	t.Helper()
	cfg, err := config.Load(t.Context(), environ)
	e, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatalf("Load(%d variables) = %v, want an *Error", len(environ), err)
	}
	if diff := cmp.Diff(config.Config{}, cfg, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("Load returned invalid settings (-want +got):\n%s", diff)
	}
	return e.Problems
}

// load loads environ, which must be accepted.
func load(t *testing.T, environ ...string) config.Config {
	t.Helper()
	cfg, err := config.Load(t.Context(), environ)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// An empty environment is a working single node on the developer's machine.
func TestDefaultsLoadFromAnEmptyEnvironment(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Listen: "127.0.0.1:8080", PrivateListen: "127.0.0.1:8081",
		DatabaseURL: "postgres:///lineproof?host=/var/run/postgresql", DatabaseRole: "lineproof_serve", FileRate: 50, FileBurst: 500, ClientRate: 20, ClientBurst: 100, SessionRate: 20, SessionBurst: 100, KeyConcurrent: 256, ClientConcurrent: 4, SessionConcurrent: 8,
		VerifyConns: 6, SupplyConns: 4, PeopleConns: 6, JobConns: 4, JournalDaysAhead: 7,
		Node: host, Data: "lineproof-data", DrainTimeout: 25 * time.Second,
		S3Region: "us-east-1", S3SSE: "none", LogLevel: "info", LogFormat: "json",
		Region: "NG", RegulatorCode: "REGULATOR", ClientOnboardings: 50, ClientClashes: 20, StaffLookups: 200, DocumentsRequired: []string{"CAC_CERTIFICATE", "OPERATING_LICENCE"},
		PasswordMin: 8, Argon2MemoryKiB: 19456, Argon2Time: 2, Argon2Parallel: max(1, runtime.GOMAXPROCS(0)/2), Argon2Queue: 32,
		TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: 30 * time.Minute, AccessGrace: time.Minute, SecondFactor: true, StaffSecondFactor: true, Portal: true,
		VerifyTimeout: time.Second, VerifyBatch: 256, VerifyFlushes: 2, VerifyQueue: 4096, RequestTimeout: 10 * time.Second, UploadTimeout: 2 * time.Minute, UploadMaxBytes: 10 << 20, ClamdTimeout: time.Minute,
		ImportMaxBytes: 4 << 30, ImportMaxRows: 300_000_000, JobMaxRows: 5_000_000, JobMaxBytes: 512 << 20, JobWaitingBytes: 2 << 30, WatchListMaxRows: 10_000_000, WatchListMaxBytes: 256 << 20, JobKeep: 168 * time.Hour, ImportTimeout: 30 * time.Minute, ImportCheckTimeout: 12 * time.Hour, KeyRate: 50, KeyBurst: 100, EntityRate: 500, EntityBurst: 1000, AddressRate: 10, AddressBurst: 100, AddressConns: 1024, DayNumbers: 100_000, SponsorDayNumbers: 100_000, YearNumbers: 5_000_000, SponsorYearNumbers: 5_000_000, ScanGuard: "stop",
	}
	if diff := cmp.Diff(want, load(t)); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

// Every setting can be changed, other variables are ignored, and an empty variable
// counts as not set.
func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	got := load(t,
		"PATH=/bin", "LINEPROOFREADER=1", "malformed entry",
		"LINEPROOF_LISTEN=[::]:0", "LINEPROOF_PUBLIC_URL=https://x.example", "LINEPROOF_PRIVATE_LISTEN=localhost:0", "LINEPROOF_PLAIN_HTTP=true",
		"LINEPROOF_TRUSTED_PROXIES=10.0.0.0/8, 2001:db8::7/128", "LINEPROOF_DATABASE_ROLE=", "LINEPROOF_DRAIN_DELAY=2s",
		"LINEPROOF_UPLOAD_MAX_BYTES=2048", "LINEPROOF_ARGON2_MEMORY_KIB=65536", "LINEPROOF_ARGON2_PARALLEL=3",
		"LINEPROOF_REGION=", "LINEPROOF_VERIFY_CONNS=", "LINEPROOF_PEPPERS_FILE=", "LINEPROOF_NODE=a", "LINEPROOF_NODE=b",
	)
	if remote := load(t, "LINEPROOF_PRIVATE_LISTEN=0.0.0.0:8081", "LINEPROOF_PRIVATE_REMOTE=true"); remote.PrivateListen != "0.0.0.0:8081" {
		t.Errorf("the private listener that other machines may reach is %s", remote.PrivateListen)
	}
	want := load(t, "LINEPROOF_NODE=b")
	want.Listen, want.PrivateListen, want.PlainHTTP = "[::]:0", "localhost:0", true
	want.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::7/128")}
	want.DatabaseRole, want.DrainDelay, want.UploadMaxBytes = "", 2*time.Second, 2048
	want.Argon2MemoryKiB, want.Argon2Parallel, want.PublicURL = 65536, 3, "https://x.example"
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All problems are reported at once: malformed, out of range, contradictory,
// incomplete and unknown settings together.
func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	got := complaintsOf(t,
		"LINEPROOF_PRIVATE_LISTEN=nowhere", "LINEPROOF_TLS_CERT=cert.pem", "LINEPROOF_PLAIN_HTTP=perhaps",
		"LINEPROOF_VERIFY_CONNS=many", "LINEPROOF_DRAIN_TIMEOUT=25", "LINEPROOF_LOG_LEVEL=loud",
		"LINEPROOF_TRUSTED_PROXIES=10.0.0.300/8", "LINEPROOF_ARGON2_TIME=0", "LINEPROOF_REGION=Nigeria",
		"LINEPROOF_SESSION_IDLE=9h", "LINEPROOF_PASSWORD_MIN=4", "LINEPROOF_LITSEN=:80",
	)
	want := []string{
		"LINEPROOF_PLAIN_HTTP is not valid: set it to true or false",
		"LINEPROOF_TRUSTED_PROXIES is not valid: set it to networks such as 10.0.0.0/8,192.0.2.7/32, separated by commas",
		"LINEPROOF_VERIFY_CONNS is not valid: set it to a whole number from 2 to 1000",
		"LINEPROOF_DRAIN_TIMEOUT is not valid: set it to a duration from 1s to 10m",
		"LINEPROOF_LOG_LEVEL is not valid: set it to debug, info, warn or error",
		"LINEPROOF_PASSWORD_MIN is not valid: set it to a whole number from 8 to 128",
		"LINEPROOF_ARGON2_TIME is not valid: set it to a whole number from 1 to 16",
		"LINEPROOF_PRIVATE_LISTEN is not an address: set it to host:port, for example 127.0.0.1:8080; write an IPv6 address in brackets, and omit the host to listen on every address",
		"LINEPROOF_TLS_CERT is set without LINEPROOF_TLS_KEY: set both, or neither",
		"LINEPROOF_REGION is not a country: set it to two capital letters of ISO 3166, for example NG",
		"LINEPROOF_SESSION_IDLE is longer than LINEPROOF_SESSION_LIFETIME: lower the one or raise the other",
		"unknown setting LINEPROOF_LITSEN; did you mean LINEPROOF_LISTEN?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One mistake is one problem, and its text names the setting.
func TestEachMistakeIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		environ []string
		want    string // a part of the only complaint
	}{
		"plain HTTP in public":        {[]string{"LINEPROOF_LISTEN=:8080"}, "LINEPROOF_LISTEN is not a loopback address"},
		"plain HTTP on a host name":   {[]string{"LINEPROOF_LISTEN=example.test:8080"}, "LINEPROOF_LISTEN is not a loopback address"},
		"plain HTTP without a proxy":  {[]string{"LINEPROOF_LISTEN=:8080", "LINEPROOF_PLAIN_HTTP=true"}, "needs LINEPROOF_TRUSTED_PROXIES"},
		"proxies alone are no reason": {[]string{"LINEPROOF_LISTEN=:8080", "LINEPROOF_TRUSTED_PROXIES=10.0.0.0/8"}, "LINEPROOF_LISTEN is not a loopback address"},
		"plain HTTP and TLS": {
			[]string{"LINEPROOF_TLS_CERT=c", "LINEPROOF_TLS_KEY=k", "LINEPROOF_PLAIN_HTTP=true"},
			"LINEPROOF_PLAIN_HTTP is true although",
		},
		"key without certificate": {[]string{"LINEPROOF_TLS_KEY=k"}, "LINEPROOF_TLS_KEY is set without LINEPROOF_TLS_CERT"},
		"no public address":       {[]string{"LINEPROOF_LISTEN=:8443", "LINEPROOF_TLS_CERT=c", "LINEPROOF_TLS_KEY=k"}, "LINEPROOF_PUBLIC_URL is not set"},
		"plain public address":    {[]string{"LINEPROOF_PUBLIC_URL=http://lineproof.example"}, "LINEPROOF_PUBLIC_URL is not https"},
		"cheap passwords":         {[]string{"LINEPROOF_LISTEN=:8443", "LINEPROOF_TLS_CERT=c", "LINEPROOF_TLS_KEY=k", "LINEPROOF_PUBLIC_URL=https://x.example", "LINEPROOF_ARGON2_MEMORY_KIB=12288"}, "make passwords cheap to guess"},
		"reports in plain text":   {[]string{"LINEPROOF_REPORT_URL=http://reports.example"}, "LINEPROOF_REPORT_URL is not an address"},
		"live webhooks to itself": {[]string{"LINEPROOF_WEBHOOK_LOOPBACK_LIVE=true"}, "set LINEPROOF_WEBHOOK_LOOPBACK=true"},
		"live webhooks, public":   {[]string{"LINEPROOF_WEBHOOK_LOOPBACK_LIVE=true", "LINEPROOF_WEBHOOK_LOOPBACK=true", "LINEPROOF_LISTEN=:8443", "LINEPROOF_TLS_CERT=c", "LINEPROOF_TLS_KEY=k"}, "a demonstration on one machine"},
		"metrics for all":         {[]string{"LINEPROOF_PRIVATE_LISTEN=:8081"}, "set LINEPROOF_PRIVATE_REMOTE=true"},
		"metrics on a network":    {[]string{"LINEPROOF_PRIVATE_LISTEN=192.0.2.7:8081"}, "LINEPROOF_PRIVATE_LISTEN is not a loopback address"},
		"one address twice":       {[]string{"LINEPROOF_PRIVATE_LISTEN=127.0.0.1:8080"}, "are the same address"},
		"port out of range":       {[]string{"LINEPROOF_LISTEN=127.0.0.1:70000"}, "LINEPROOF_LISTEN is not an address"},
		"stray comma":             {[]string{"LINEPROOF_TRUSTED_PROXIES=10.0.0.0/8,,"}, "LINEPROOF_TRUSTED_PROXIES has an empty entry"},
		"database of another kind": {
			[]string{"LINEPROOF_DATABASE_URL=mysql://u:p@h/d?a=b"},
			"LINEPROOF_DATABASE_URL is not a connection string",
		},
		"standby of another kind": {[]string{"LINEPROOF_READ_DATABASE_URL=mysql://u:p@h/d?a=b"}, "LINEPROOF_READ_DATABASE_URL is not a connection string"},
		"document twice":          {[]string{"LINEPROOF_DOCUMENTS_REQUIRED=TAX_ID,TAX_ID"}, "LINEPROOF_DOCUMENTS_REQUIRED has an entry"},
		"document without a name": {[]string{"LINEPROOF_DOCUMENTS_REQUIRED=TAX_ID,,ADMIN_ID"}, "LINEPROOF_DOCUMENTS_REQUIRED has an entry"},
		"restricted by nothing": {
			[]string{"LINEPROOF_DOCUMENTS_REQUIRED=", "LINEPROOF_DOCUMENTS_RESTRICT=true"}, "LINEPROOF_DOCUMENTS_RESTRICT is true although",
		},
		"kept for minutes":       {[]string{"LINEPROOF_DOCUMENT_RETENTION=TAX_ID=30m"}, "LINEPROOF_DOCUMENT_RETENTION is not valid"},
		"kept for a word":        {[]string{"LINEPROOF_DOCUMENT_RETENTION=TAX_ID=long"}, "LINEPROOF_DOCUMENT_RETENTION is not valid"},
		"kept for twice":         {[]string{"LINEPROOF_DOCUMENT_RETENTION=TAX_ID=9d,TAX_ID=8d"}, "LINEPROOF_DOCUMENT_RETENTION is not valid"},
		"kept for too long":      {[]string{"LINEPROOF_DOCUMENT_RETENTION=TAX_ID=36501d"}, "LINEPROOF_DOCUMENT_RETENTION is not valid"},
		"kept without a time":    {[]string{"LINEPROOF_DOCUMENT_RETENTION=TAX_ID"}, "LINEPROOF_DOCUMENT_RETENTION is not valid"},
		"bucket nowhere":         {[]string{"LINEPROOF_S3_BUCKET=papers"}, "LINEPROOF_S3_BUCKET is set without LINEPROOF_S3_ENDPOINT"},
		"bucket in the clear":    bucket("LINEPROOF_S3_ENDPOINT=http://s3.example", "LINEPROOF_S3_ENDPOINT would send documents"),
		"bucket with a path":     bucket("LINEPROOF_S3_ENDPOINT=https://s3.example/papers", "LINEPROOF_S3_ENDPOINT is not the address of a server"),
		"bucket with a password": bucket("LINEPROOF_S3_ENDPOINT=https://u:p@s3.example", "LINEPROOF_S3_ENDPOINT is not the address of a server"),
		"bucket of no name":      bucket("LINEPROOF_S3_BUCKET=", "LINEPROOF_S3_BUCKET is not the name of a bucket"),
		"bucket in capitals":     bucket("LINEPROOF_S3_BUCKET=Papers", "LINEPROOF_S3_BUCKET is not the name of a bucket"),
		"bucket without a key":   bucket("LINEPROOF_S3_ACCESS_KEY=", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_ACCESS_KEY"),
		"bucket, half a key":     bucket("LINEPROOF_S3_SECRET_KEY=", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_SECRET_KEY"),
		"key for no encryption":  bucket("LINEPROOF_S3_KMS_KEY=k", "LINEPROOF_S3_KMS_KEY is set without LINEPROOF_S3_SSE=kms"),
		"scanner without a port": {[]string{"LINEPROOF_CLAMD_ADDR=127.0.0.1"}, "LINEPROOF_CLAMD_ADDR is not the address of a scanner"},
		"scanner nowhere":        {[]string{"LINEPROOF_CLAMD_ADDR=:3310"}, "LINEPROOF_CLAMD_ADDR is not the address of a scanner"},
		"scanner without a path": {[]string{"LINEPROOF_CLAMD_ADDR=unix:clamd.ctl"}, "LINEPROOF_CLAMD_ADDR is not the address of a scanner"},
		"Redis of another kind":  {[]string{"LINEPROOF_REDIS_URL=http://u:p@h/d"}, "LINEPROOF_REDIS_URL is not the address of a Redis"},
		"role with a quote":      {[]string{`LINEPROOF_DATABASE_ROLE=x"; DROP`}, "LINEPROOF_DATABASE_ROLE is not the name of a role"},
		"node too long":          {[]string{"LINEPROOF_NODE=" + strings.Repeat("n", 65)}, "LINEPROOF_NODE"},
		"node not printable":     {[]string{"LINEPROOF_NODE=n\x1b[2J"}, "LINEPROOF_NODE"},
		"regulator not ASCII":    {[]string{"LINEPROOF_REGULATOR_CODE=Régulateur"}, "LINEPROOF_REGULATOR_CODE is not a code"},
		"traces without scheme":  {[]string{"LINEPROOF_TRACES_ENDPOINT=127.0.0.1:4318"}, "LINEPROOF_TRACES_ENDPOINT is not a URL"},
		"traces with a password": {[]string{"LINEPROOF_TRACES_ENDPOINT=http://u:p@h:4318"}, "LINEPROOF_TRACES_ENDPOINT contains a user name"},
		"verify outlasts others": {[]string{"LINEPROOF_VERIFY_TIMEOUT=11s"}, "LINEPROOF_VERIFY_TIMEOUT is longer than"},
		"negative duration":      {[]string{"LINEPROOF_DRAIN_DELAY=-1s"}, "LINEPROOF_DRAIN_DELAY is not valid"},
		"number too large":       {[]string{"LINEPROOF_ARGON2_MEMORY_KIB=4294967296"}, "LINEPROOF_ARGON2_MEMORY_KIB is not valid"},
		"upload too large":       {[]string{"LINEPROOF_UPLOAD_MAX_BYTES=1073741825"}, "LINEPROOF_UPLOAD_MAX_BYTES is not valid"},
		"pepper too short":       {[]string{"LINEPROOF_PEPPERS=" + strings.Repeat("p", 32) + ",short"}, "LINEPROOF_PEPPERS: entry 2 is shorter"},
		"unknown by two slips":   {[]string{"LINEPROOF_DATABSE_ULR=x"}, "did you mean LINEPROOF_DATABASE_URL?"},
		"unknown, near nothing":  {[]string{"LINEPROOF_WHATEVER_THIS_IS=x"}, "unknown setting LINEPROOF_WHATEVER_THIS_IS: remove it"},
		"mail over http": {
			[]string{"LINEPROOF_SMTP_URL=http://u:p@h", "LINEPROOF_MAIL_FROM=a@b.example", "LINEPROOF_PUBLIC_URL=https://b.example"},
			"LINEPROOF_SMTP_URL is not the address of a mail server",
		},
		"mail from nobody":     {[]string{"LINEPROOF_SMTP_URL=smtp://h", "LINEPROOF_PUBLIC_URL=https://b.example"}, "LINEPROOF_SMTP_URL needs LINEPROOF_MAIL_FROM"},
		"mail from a name":     {[]string{"LINEPROOF_MAIL_FROM=Lineproof"}, "LINEPROOF_MAIL_FROM is not an e-mail address"},
		"mail with lost links": {[]string{"LINEPROOF_SMTP_URL=smtp://h", "LINEPROOF_MAIL_FROM=a@b.example"}, "LINEPROOF_SMTP_URL needs LINEPROOF_PUBLIC_URL"},
		"public with a slash":  {[]string{"LINEPROOF_PUBLIC_URL=https://b.example/"}, "LINEPROOF_PUBLIC_URL is not an address"},
		"file for no secret":   {[]string{"LINEPROOF_LISTEN_FILE=x"}, "LINEPROOF_LISTEN cannot be read from a file"},
		"name with an escape":  {[]string{"LINEPROOF_\x1b[2J=x"}, "unknown setting LINEPROOF_?[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := complaintsOf(t, tc.environ...)
			if len(got) != 1 || !strings.Contains(got[0], tc.want) {
				t.Errorf("problems = %q, want one with %q", got, tc.want)
			}
		})
	}
}

// bucket is an environment with a bucket in which one setting is wrong.
func bucket(wrong, want string) struct {
	environ []string
	want    string
} {
	return struct {
		environ []string
		want    string
	}{[]string{
		"LINEPROOF_S3_ENDPOINT=https://s3.example", "LINEPROOF_S3_BUCKET=papers", "LINEPROOF_S3_ACCESS_KEY=a", "LINEPROOF_S3_SECRET_KEY=s", wrong,
	}, want}
}

// TLS on any address, and plain HTTP behind a listed proxy, are both accepted.
func TestSafePublicAddressesAreAccepted(t *testing.T) {
	t.Parallel()
	load(t, "LINEPROOF_LISTEN=:8443", "LINEPROOF_TLS_CERT=c", "LINEPROOF_TLS_KEY=k", "LINEPROOF_PUBLIC_URL=https://x.example")
	load(t, "LINEPROOF_LISTEN=0.0.0.0:8080", "LINEPROOF_PLAIN_HTTP=true", "LINEPROOF_TRUSTED_PROXIES=10.0.0.0/8", "LINEPROOF_PUBLIC_URL=https://x.example")
	load(t, "LINEPROOF_LISTEN=[::1]:8080")
	load(t, "LINEPROOF_DATABASE_URL=postgres://u:p@a:5432,b:5432/d?target_session_attrs=read-write&sslmode=verify-full")
	load(t, "LINEPROOF_DATABASE_URL=host=/tmp dbname=x")
}

// A secret is read from a file without its line end, from one place only, and an
// unreadable file is a problem whose text does not contain the path: it may be the
// secret itself, set under the wrong name.
func TestSecretsAreReadFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(path, []byte("postgres://127.0.0.1/d\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := load(t, "LINEPROOF_DATABASE_URL_FILE="+path)
	if got := cfg.DatabaseURL.Reveal(); got != "postgres://127.0.0.1/d" {
		t.Errorf("from the file: %q", got)
	}

	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{
		{"LINEPROOF_DATABASE_URL_FILE=" + path, "LINEPROOF_DATABASE_URL=postgres://h/d"},
		{"LINEPROOF_DATABASE_URL_FILE=" + empty},
		{"LINEPROOF_DATABASE_URL_FILE=hunter2-canary"},
	} {
		got := complaintsOf(t, environ...)
		if len(got) != 1 || !strings.Contains(got[0], "LINEPROOF_DATABASE_URL") || strings.Contains(got[0], "canary") {
			t.Errorf("problems = %q, want one about LINEPROOF_DATABASE_URL without the path", got)
		}
	}
}

// No error contains a value, secret or not, and no way of printing the settings
// shows a secret.
func TestSecretsNeverPrint(t *testing.T) {
	t.Parallel()
	const canary = "canary-canary-canary-canary-canary"
	environ := []string{"LINEPROOF_PEPPERS=" + canary, "LINEPROOF_DATABASE_URL=postgres://u:" + canary + "@127.0.0.1/d"}
	cfg := load(t, environ...)
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).LogAttrs(t.Context(), slog.LevelInfo, "settings", slog.Any("config", cfg))
	printed := []string{string(encoded), logged.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		printed = append(printed, fmt.Sprintf(verb, cfg))
	}
	for _, text := range printed {
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
			t.Errorf("a secret is printed: %s", text)
		}
	}

	_, err = config.Load(t.Context(), []string{
		"LINEPROOF_PEPPERS=" + canary + "," + canary, "LINEPROOF_DATABASE_URL=" + canary, "LINEPROOF_LISTEN=" + canary,
		"LINEPROOF_VERIFY_CONNS=" + canary, "LINEPROOF_DRAIN_TIMEOUT=" + canary, "LINEPROOF_TRUSTED_PROXIES=" + canary,
		"LINEPROOF_CAC_UNIQUE=" + canary, "LINEPROOF_LOG_LEVEL=" + canary, "LINEPROOF_TRACES_ENDPOINT=" + canary, "LINEPROOF_ODD=" + canary,
	})
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("error = %v, want one without values", err)
	}
}

// Settings that every node needs with the same value are compared, secrets by their value, and
// those that belong to one machine are not.
func TestSharedSettings(t *testing.T) {
	t.Parallel()
	one := load(t, "LINEPROOF_NODE=one", "LINEPROOF_LISTEN=127.0.0.1:1", "LINEPROOF_REDIS_URL=redis://127.0.0.1/1", "LINEPROOF_DOCUMENT_RETENTION=OTHER=30d,CAC_CERTIFICATE=60d")
	two := load(t, "LINEPROOF_NODE=two", "LINEPROOF_LISTEN=127.0.0.1:2", "LINEPROOF_REDIS_URL=redis://127.0.0.1/2", "LINEPROOF_DOCUMENT_RETENTION=CAC_CERTIFICATE=60d,OTHER=30d")
	a, b := one.Shared(), two.Shared()
	var differ []string
	for name := range a {
		if a[name] != b[name] {
			differ = append(differ, name)
		}
	}
	if len(a) != len(b) || !slices.Equal(differ, []string{"LINEPROOF_REDIS_URL"}) || a["LINEPROOF_REGION"] != "NG" {
		t.Errorf("differing: %v; %v", differ, a)
	}
}
