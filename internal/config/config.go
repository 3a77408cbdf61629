// Package config reads the settings of the service from the environment.
//
// It promises that an operator learns everything that is wrong in one round:
// missing, malformed, contradictory and misspelt settings are all named in one
// error, each with what to do about it. No value is ever repeated in an error,
// so a secret cannot reach a log by way of a typing mistake.
package config

import (
	"net/netip"
	"time"

	"github.com/lineproof/lineproof/internal/secret"
)

// Config is every setting there is. docs/reference/configuration.md is
// generated from this struct: the comment on a field is its documentation, and
// the tags say the rest. group opens a section; min, max and oneof are checked
// by [Load]; unset says in words what an absent value means; empty marks a
// setting for which a variable that is set to nothing differs from no variable.
type Config struct {
	// Listen is the address of the public listener: the API and its documentation. Port 0 takes a free port.
	Listen string `env:"LINEPROOF_LISTEN, default=127.0.0.1:8080" group:"Listeners"`

	// PrivateListen is the address of metrics, health and profiles. It asks for no credential and speaks plain HTTP, so keep it where only your own machines reach it.
	PrivateListen string `env:"LINEPROOF_PRIVATE_LISTEN, default=127.0.0.1:8081"`

	// TLSCert is the file with the certificate chain (PEM) of the public listener. It is read again when it changes. Set it together with LINEPROOF_TLS_KEY.
	TLSCert string `env:"LINEPROOF_TLS_CERT" unset:"no TLS"`

	// TLSKey is the file with the private key (PEM) that belongs to LINEPROOF_TLS_CERT.
	TLSKey string `env:"LINEPROOF_TLS_KEY" unset:"no TLS"`

	// PlainHTTP allows plain HTTP on an address that is not loopback, for a proxy that ends TLS in front of the service. It needs LINEPROOF_TRUSTED_PROXIES.
	PlainHTTP bool `env:"LINEPROOF_PLAIN_HTTP, default=false"`

	// TrustedProxies lists the networks of the proxies in front of the service. X-Forwarded-For is believed only from them.
	TrustedProxies []netip.Prefix `env:"LINEPROOF_TRUSTED_PROXIES" unset:"none"`

	// DatabaseURL is where PostgreSQL answers, as a URL or as keyword=value pairs. Several hosts may be listed.
	DatabaseURL secret.Text `env:"LINEPROOF_DATABASE_URL, default=postgres:///lineproof?host=/var/run/postgresql" group:"Database"`

	// DatabaseRole is the role that the server takes after it has connected, so that it has no more rights than it needs. Set to nothing, the server keeps the rights of the login.
	DatabaseRole string `env:"LINEPROOF_DATABASE_ROLE, default=lineproof_serve" empty:"keep"`

	// DatabaseConns is the most connections to PostgreSQL that this node opens.
	DatabaseConns int `env:"LINEPROOF_DATABASE_CONNS, default=8" min:"2" max:"1000"`

	// JournalDaysAhead is how many days ahead the partitions of the journal are made.
	JournalDaysAhead int `env:"LINEPROOF_JOURNAL_DAYS_AHEAD, default=7" min:"1" max:"90"`

	// JournalDiskBytes is how many bytes the whole database may take, so that the metric lineproof_journal_disk_days_left can say for how many days there is room. 0 says that nobody knows.
	JournalDiskBytes int64 `env:"LINEPROOF_JOURNAL_DISK_BYTES, default=0" min:"0" max:"1125899906842624"`

	// Node is the name of this node in the journal: 1 to 64 printable ASCII characters, different on every node.
	Node string `env:"LINEPROOF_NODE" unset:"the host name" group:"Node"`

	// Data is the directory for what a single node keeps itself: documents, archived days of the journal and supply files until they are taken in, unless a bucket keeps them; files on their way to a bucket; and the pepper when none is set.
	Data string `env:"LINEPROOF_DATA, default=lineproof-data"`

	// DrainDelay is the time between saying "not ready" and closing the public listener, so that a load balancer notices first.
	DrainDelay time.Duration `env:"LINEPROOF_DRAIN_DELAY, default=0s" min:"0s" max:"5m"`

	// DrainTimeout is how long requests in flight may still take after the public listener has closed.
	DrainTimeout time.Duration `env:"LINEPROOF_DRAIN_TIMEOUT, default=25s" min:"1s" max:"10m"`

	// S3Endpoint is the server whose bucket keeps documents, archived days of the journal and supply files for all nodes, such as https://s3.regulator.example. Any server that speaks S3 and knows conditional writes will do. Plain http is for this machine only.
	S3Endpoint string `env:"LINEPROOF_S3_ENDPOINT" unset:"files are kept in LINEPROOF_DATA" group:"Bucket"`

	// S3Bucket is the name of the bucket. It stands in the path of requests, not in the host name.
	S3Bucket string `env:"LINEPROOF_S3_BUCKET" unset:"none"`

	// S3Region is the region that requests are signed for.
	S3Region string `env:"LINEPROOF_S3_REGION, default=us-east-1"`

	// S3AccessKey is the name of the key that may read, write, delete and list in the bucket.
	S3AccessKey string `env:"LINEPROOF_S3_ACCESS_KEY" unset:"none"`

	// S3SecretKey is the secret that belongs to LINEPROOF_S3_ACCESS_KEY.
	S3SecretKey secret.Text `env:"LINEPROOF_S3_SECRET_KEY" unset:"none"`

	// S3SSE is how the server is asked to encrypt what it keeps: none leaves it to the bucket, s3 is with keys of the server (SSE-S3), kms with a key of a key management service (SSE-KMS).
	S3SSE string `env:"LINEPROOF_S3_SSE, default=none" oneof:"none|s3|kms"`

	// S3KMSKey is the id of the key for LINEPROOF_S3_SSE=kms.
	S3KMSKey string `env:"LINEPROOF_S3_KMS_KEY" unset:"the one that the server chooses"`

	// LogLevel is the least severe level that is logged.
	LogLevel string `env:"LINEPROOF_LOG_LEVEL, default=info" oneof:"debug|info|warn|error" group:"Observability"`

	// LogFormat is the form of a log line.
	LogFormat string `env:"LINEPROOF_LOG_FORMAT, default=json" oneof:"json|text"`

	// TracesEndpoint is the URL that takes OpenTelemetry traces (OTLP over HTTP), for example http://127.0.0.1:4318. Headers for it are given in OTEL_EXPORTER_OTLP_HEADERS.
	TracesEndpoint string `env:"LINEPROOF_TRACES_ENDPOINT" unset:"no traces"`

	// Region is the country whose numbers are answered for, as two letters of ISO 3166.
	Region string `env:"LINEPROOF_REGION, default=NG" group:"Contract"`

	// RegulatorCode is the regulator's short code: the entityType of every entity. 1 to 32 printable ASCII characters.
	RegulatorCode string `env:"LINEPROOF_REGULATOR_CODE, default=REGULATOR"`

	// CACUnique refuses a second entity with the same CAC number.
	CACUnique bool `env:"LINEPROOF_CAC_UNIQUE, default=false"`

	// DocumentTypesStrict refuses document types that are not on the list of known ones. Otherwise such a document is kept as OTHER with its label.
	DocumentTypesStrict bool `env:"LINEPROOF_DOCUMENT_TYPES_STRICT, default=false"`

	// DocumentsRequired lists the types of documents, or labels, that an entity has to hand in which was onboarded with isDocumentRequired. Set to nothing, none is.
	DocumentsRequired []string `env:"LINEPROOF_DOCUMENTS_REQUIRED, default=CAC_CERTIFICATE,OPERATING_LICENCE" empty:"none"`

	// DocumentsRestrict refuses to make or roll a live API key of an entity while a document that it has to hand in is not accepted. Keys that it has go on working.
	DocumentsRestrict bool `env:"LINEPROOF_DOCUMENTS_RESTRICT, default=false"`

	// ClamdAddr is the virus scanner, clamd: unix:/run/clamav/clamd.ctl, or host:port. The connection is neither encrypted nor asked for a credential, so keep it on this machine or on a network of your own. A document is shown to nobody before it was scanned.
	ClamdAddr string `env:"LINEPROOF_CLAMD_ADDR" unset:"documents wait"`

	// ClamdTimeout is how long the scan of one document may take before it is tried again.
	ClamdTimeout time.Duration `env:"LINEPROOF_CLAMD_TIMEOUT, default=1m" min:"1s" max:"10m"`

	// DocumentRetention is how long a document is kept after the decision about it, by its type or its label; OTHER means every label that is not named itself. A document under a legal hold is kept, and so is one that meets a requirement of an entity that is not revoked.
	DocumentRetention Retention `env:"LINEPROOF_DOCUMENT_RETENTION" unset:"for ever"`

	// PepperList holds the keys under which credentials are hashed at rest: comma separated, newest first, each at least 32 bytes. A new one is put in front; an old one stays until nothing hashed under it is in use. The one that is made when none is set lies in LINEPROOF_DATA/pepper, which is right for one node only.
	PepperList secret.Text `env:"LINEPROOF_PEPPERS" unset:"one is made at first use" group:"Credentials"`

	// PasswordMin is the fewest characters of a password. The most is 128 and is not a setting.
	PasswordMin int `env:"LINEPROOF_PASSWORD_MIN, default=8" min:"8" max:"128"`

	// Argon2MemoryKiB is the memory that one password hash takes, in KiB.
	Argon2MemoryKiB uint32 `env:"LINEPROOF_ARGON2_MEMORY_KIB, default=19456" min:"8" max:"262144"`

	// Argon2Time is the number of passes over that memory.
	Argon2Time uint32 `env:"LINEPROOF_ARGON2_TIME, default=2" min:"1" max:"16"`

	// Argon2Parallel is how many passwords are hashed at the same moment, for logins and for onboarding each; 0 means half of the cores.
	Argon2Parallel int `env:"LINEPROOF_ARGON2_PARALLEL, default=0" min:"0" max:"1024"`

	// Argon2Queue is how many more may wait for their turn; beyond it a login is asked to come back later.
	Argon2Queue int `env:"LINEPROOF_ARGON2_QUEUE, default=32" min:"1" max:"100000"`

	// TokenLifetime is how long an access token is valid.
	TokenLifetime time.Duration `env:"LINEPROOF_TOKEN_LIFETIME, default=1h" min:"1s" max:"24h"`

	// SessionLifetime is how long a session is valid at the most.
	SessionLifetime time.Duration `env:"LINEPROOF_SESSION_LIFETIME, default=8h" min:"1s" max:"168h"`

	// SessionIdle is how long a session may lie unused before it ends.
	SessionIdle time.Duration `env:"LINEPROOF_SESSION_IDLE, default=30m" min:"1s" max:"168h"`

	// AccessGrace is for how long a node believes what it remembers of keys, tokens and sessions while the database cannot be asked. Nothing new is let in meanwhile. 0 lets nobody in.
	AccessGrace time.Duration `env:"LINEPROOF_ACCESS_GRACE, default=60s" min:"0s" max:"1h"`

	// StaffSecondFactor makes a second factor compulsory for the regulator's staff: until they have set one up, a session of theirs opens nothing else.
	StaffSecondFactor bool `env:"LINEPROOF_STAFF_SECOND_FACTOR, default=true"`

	// Portal is whether the service has pages for people, under /portal/. Links in letters lead there.
	Portal bool `env:"LINEPROOF_PORTAL, default=true"`

	// PublicURL is the address under which the service is known outside, without a slash at its end, such as https://lineproof.regulator.example. The links in letters begin with it.
	PublicURL string `env:"LINEPROOF_PUBLIC_URL" unset:"none" group:"Letters"`

	// SMTPURL is the mail server that takes letters to people (invitations, new passwords): smtp://user:password@host:587, or smtps://... where TLS is spoken from the start. To another machine nothing is sent without TLS. It needs LINEPROOF_MAIL_FROM and LINEPROOF_PUBLIC_URL.
	SMTPURL secret.Text `env:"LINEPROOF_SMTP_URL" unset:"letters wait"`

	// MailFrom is the address from which letters come, such as Lineproof <no-reply@regulator.example>.
	MailFrom string `env:"LINEPROOF_MAIL_FROM" unset:"none"`

	// VerifyTimeout is the time after which a verification is given up and answered with 503.
	VerifyTimeout time.Duration `env:"LINEPROOF_VERIFY_TIMEOUT, default=1s" min:"50ms" max:"30s" group:"Limits"`

	// VerifyBatch is the most answers that one commit records. 1 gives every answer a commit of its own.
	VerifyBatch int `env:"LINEPROOF_VERIFY_BATCH, default=256" min:"1" max:"1000"`

	// VerifyFlushes is how many such commits may be under way at once.
	VerifyFlushes int `env:"LINEPROOF_VERIFY_FLUSHES, default=1" min:"1" max:"64"`

	// VerifyQueue is the most questions that may wait for a commit in a burst, and a sixteenth of it while more are asked than can be answered; beyond it a caller is asked to come back later.
	VerifyQueue int `env:"LINEPROOF_VERIFY_QUEUE, default=4096" min:"1" max:"100000"`

	// RequestTimeout is the same for every other request but an upload.
	RequestTimeout time.Duration `env:"LINEPROOF_REQUEST_TIMEOUT, default=10s" min:"1s" max:"5m"`

	// UploadTimeout is the same for an upload, the transfer included.
	UploadTimeout time.Duration `env:"LINEPROOF_UPLOAD_TIMEOUT, default=120s" min:"1s" max:"1h"`

	// UploadMaxBytes is the size of the largest document that is taken.
	UploadMaxBytes int64 `env:"LINEPROOF_UPLOAD_MAX_BYTES, default=10485760" min:"1024" max:"1073741824"`

	// ImportMaxBytes is the size of the largest supply file that is taken over the API, as it is sent: compressed or not.
	ImportMaxBytes int64 `env:"LINEPROOF_IMPORT_MAX_BYTES, default=4294967296" min:"1048576" max:"1099511627776"`

	// ImportTimeout is how long the transfer of a supply file may take. What is done with it afterwards has no limit.
	ImportTimeout time.Duration `env:"LINEPROOF_IMPORT_TIMEOUT, default=30m" min:"1s" max:"24h"`

	// RedisURL is where Redis keeps the rates of all nodes together, as redis://user:password@host:port/db, rediss:// for TLS or unix:// for a socket. While it is away or slow, each node goes on by itself with half of every rate.
	RedisURL secret.Text `env:"LINEPROOF_REDIS_URL" unset:"each node counts for itself, in memory"`

	// KeyRate is how many requests a second may come with one API key, unless it was given a rate of its own.
	KeyRate int `env:"LINEPROOF_KEY_RATE, default=50" min:"1" max:"1000000"`

	// KeyBurst is how many of them may come at once.
	KeyBurst int `env:"LINEPROOF_KEY_BURST, default=100" min:"1" max:"1000000"`

	// EntityRate is how many requests a second may come with all keys of an organisation together, unless staff allow it another number.
	EntityRate int `env:"LINEPROOF_ENTITY_RATE, default=500" min:"1" max:"1000000"`

	// EntityBurst is how many of them may come at once.
	EntityBurst int `env:"LINEPROOF_ENTITY_BURST, default=1000" min:"1" max:"1000000"`

	// AddressRate is how many requests a second without a valid credential may come from one network: 256 addresses of IPv4 (/24), or a /48 of IPv6. Logins and requests for tokens are among them.
	AddressRate int `env:"LINEPROOF_ADDRESS_RATE, default=10" min:"1" max:"1000000"`

	// AddressBurst is how many of them may come at once.
	AddressBurst int `env:"LINEPROOF_ADDRESS_BURST, default=100" min:"1" max:"1000000"`

	// DayNumbers is how many different phone numbers an organisation may ask about on a day (UTC), unless staff allow it another number (lineproof limits set). A number that it asked about before on that day is free. 0 sets no budget.
	DayNumbers int64 `env:"LINEPROOF_DAY_NUMBERS, default=100000" min:"0" max:"1000000000"`

	// DayQuota is how many questions of an organisation are answered on a day (UTC), unless staff allow it another number. 0 sets no quota.
	DayQuota int64 `env:"LINEPROOF_DAY_QUOTA, default=0" min:"0" max:"1000000000000"`

	// MonthQuota is the same for a month.
	MonthQuota int64 `env:"LINEPROOF_MONTH_QUOTA, default=0" min:"0" max:"1000000000000"`

	// ScanGuard is what happens to an organisation whose questions look like a scan of numbers: stop slows it and, if it goes on, stops it; watch only tells staff; off does not look.
	ScanGuard string `env:"LINEPROOF_SCAN_GUARD, default=stop" oneof:"stop|watch|off"`
}
