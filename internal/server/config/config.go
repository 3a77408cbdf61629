// Package config reads the settings of the service from the environment.
//
// An operator sees all problems at once: missing, malformed, contradictory and
// misspelt settings are in one error, each with what to do about it. No error
// contains a value, so a typing mistake cannot put a secret into a log.
package config

import (
	"net/netip"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// Config has every setting. docs/reference/configuration.md is generated from this
// struct: the comment on a field is its documentation, and the tags have the rest.
// group starts a section; [Load] checks min, max and oneof; unset describes what
// no value means; empty marks a setting for which an empty variable differs from
// no variable; node marks a setting in which nodes may differ, see [Config.Shared].
type Config struct {
	// Listen is the address of the public listener: the API and its documentation. Port 0 chooses a free port.
	Listen string `env:"LINEPROOF_LISTEN, default=127.0.0.1:8080" group:"Listeners" node:"own"`

	// PrivateListen is the address of metrics, health and profiles. It needs no credential and serves plain HTTP, so make it reachable from your own machines only. An address that is not loopback needs LINEPROOF_PRIVATE_REMOTE.
	PrivateListen string `env:"LINEPROOF_PRIVATE_LISTEN, default=127.0.0.1:8081" node:"own"`

	// PrivateRemote allows LINEPROOF_PRIVATE_LISTEN on an address that other machines can reach. Everybody who reaches it can read the metrics and take profiles, so let a firewall or the network admit your monitoring only.
	PrivateRemote bool `env:"LINEPROOF_PRIVATE_REMOTE, default=false" node:"own"`

	// TLSCert is the file with the certificate chain (PEM) of the public listener. It is reloaded when it changes. Set it together with LINEPROOF_TLS_KEY.
	TLSCert string `env:"LINEPROOF_TLS_CERT" unset:"no TLS" node:"own"`

	// TLSKey is the file with the private key (PEM) that belongs to LINEPROOF_TLS_CERT.
	TLSKey string `env:"LINEPROOF_TLS_KEY" unset:"no TLS" node:"own"`

	// HSTSSubdomains tells browsers to use HTTPS also for all hosts below that of LINEPROOF_PUBLIC_URL. Set it if all of them have it.
	HSTSSubdomains bool `env:"LINEPROOF_HSTS_SUBDOMAINS, default=false"`

	// ReportURL is where browsers report what the pages' security policy has blocked, such as https://reports.regulator.example/csp: a collector of your own, in the form of the Reporting API. A report has the address of the page, which never contains a secret.
	ReportURL string `env:"LINEPROOF_REPORT_URL" unset:"browsers report nothing"`

	// PlainHTTP allows plain HTTP on an address that is not loopback, for a proxy in front of the service that terminates TLS. It needs LINEPROOF_TRUSTED_PROXIES.
	PlainHTTP bool `env:"LINEPROOF_PLAIN_HTTP, default=false" node:"own"`

	// TrustedProxies lists the networks of the proxies in front of the service. X-Forwarded-For is trusted from them only.
	TrustedProxies []netip.Prefix `env:"LINEPROOF_TRUSTED_PROXIES" unset:"none" node:"own"`

	// DatabaseURL is the connection string of PostgreSQL, as a URL or as keyword=value pairs. Several hosts may be listed. Hosts on other machines need sslmode=verify-full, and sslrootcert unless a public authority signed their certificates; see LINEPROOF_UNVERIFIED_PEERS.
	DatabaseURL secret.Text `env:"LINEPROOF_DATABASE_URL, default=postgres:///lineproof?host=/var/run/postgresql" group:"Database" node:"own"`

	// ReadDatabaseURL is the connection string of a database that is only read, such as a standby. Checks and archives of the journal, searches in it and its export read from there, so that they do not load the primary; what they write goes to LINEPROOF_DATABASE_URL.
	ReadDatabaseURL secret.Text `env:"LINEPROOF_READ_DATABASE_URL" unset:"LINEPROOF_DATABASE_URL is read" node:"own"`

	// UnverifiedPeers lists what may be reached on other machines without TLS that verifies the other side: database, redis, scanner (clamd, which knows no TLS) and traces. Who can listen or interfere between the machines then reads and changes what they say to each other, so list one only where nobody can. `lineproof doctor` reports what is listed.
	UnverifiedPeers []string `env:"LINEPROOF_UNVERIFIED_PEERS" unset:"none" node:"own"`

	// DatabaseRole is the database role that the server sets after connecting (SET ROLE), so that it has no more rights than it needs. If empty, the server keeps the rights of the login.
	DatabaseRole string `env:"LINEPROOF_DATABASE_ROLE, default=lineproof_serve" empty:"keep"`

	// VerifyConns is the maximum number of connections of this node to PostgreSQL for verifications and the check of their keys. Each kind of work has connections of its own, so that none waits for another's; imports have a few more. `lineproof doctor` compares the sum with what the database allows.
	VerifyConns int `env:"LINEPROOF_VERIFY_CONNS, default=6" min:"2" max:"1000" node:"own"`

	// SupplyConns is the maximum number of connections for events and orders that are reported to the API.
	SupplyConns int `env:"LINEPROOF_SUPPLY_CONNS, default=4" min:"2" max:"1000" node:"own"`

	// PeopleConns is the maximum number of connections for the portal, onboarding, documents, and the other operations of the API.
	PeopleConns int `env:"LINEPROOF_PEOPLE_CONNS, default=6" min:"2" max:"1000" node:"own"`

	// JobConns is the maximum number of connections for jobs and metrics.
	JobConns int `env:"LINEPROOF_JOB_CONNS, default=4" min:"2" max:"1000" node:"own"`

	// JournalDaysAhead is for how many days in advance the partitions of the journal are created.
	JournalDaysAhead int `env:"LINEPROOF_JOURNAL_DAYS_AHEAD, default=7" min:"1" max:"90"`

	// JournalDiskBytes is how many bytes the whole database may use, for the metric lineproof_journal_disk_days_left, which shows for how many days the disk space lasts. 0 means unknown: there is no such metric.
	JournalDiskBytes int64 `env:"LINEPROOF_JOURNAL_DISK_BYTES, default=0" min:"0" max:"1125899906842624" node:"own"`

	// Node is the name of this node in the journal: 1 to 64 printable ASCII characters, different on every node.
	Node string `env:"LINEPROOF_NODE" unset:"the host name" group:"Node" node:"own"`

	// Data is the directory for the files of a single node: documents, archived days of the journal and supply files until they are imported, unless they are stored in a bucket; files being uploaded to a bucket; and the pepper if none is set.
	Data string `env:"LINEPROOF_DATA, default=lineproof-data" node:"own"`

	// DrainDelay is the time between reporting "not ready" and closing the public listener, so that a load balancer can remove the node first.
	DrainDelay time.Duration `env:"LINEPROOF_DRAIN_DELAY, default=0s" min:"0s" max:"5m" node:"own"`

	// DrainTimeout is how long requests in flight may still take after the public listener has closed.
	DrainTimeout time.Duration `env:"LINEPROOF_DRAIN_TIMEOUT, default=25s" min:"1s" max:"10m" node:"own"`

	// S3Endpoint is the S3 server whose bucket stores documents, archived days of the journal and supply files for all nodes, such as https://s3.regulator.example. It must support conditional writes. Plain http is allowed on this machine only.
	S3Endpoint string `env:"LINEPROOF_S3_ENDPOINT" unset:"files are stored in LINEPROOF_DATA" group:"Bucket"`

	// S3Bucket is the name of the bucket. It is part of the path of requests, not of the host name (path-style).
	S3Bucket string `env:"LINEPROOF_S3_BUCKET" unset:"none"`

	// S3Region is the region that requests are signed for.
	S3Region string `env:"LINEPROOF_S3_REGION, default=us-east-1"`

	// S3AccessKey is the id of the access key, which must be allowed to read, write, delete and list in the bucket.
	S3AccessKey string `env:"LINEPROOF_S3_ACCESS_KEY" unset:"none" node:"own"`

	// S3SecretKey is the secret that belongs to LINEPROOF_S3_ACCESS_KEY.
	S3SecretKey secret.Text `env:"LINEPROOF_S3_SECRET_KEY" unset:"none" node:"own"`

	// S3SSE is the server-side encryption to request: none leaves it to the bucket, s3 uses keys of the server (SSE-S3), kms a key of a key management service (SSE-KMS).
	S3SSE string `env:"LINEPROOF_S3_SSE, default=none" oneof:"none|s3|kms"`

	// S3KMSKey is the id of the key for LINEPROOF_S3_SSE=kms.
	S3KMSKey string `env:"LINEPROOF_S3_KMS_KEY" unset:"the default of the server"`

	// LogOrigin is the name of the public log, such as lineproof.example/log/0/2027: a host name and a path without a scheme, which never changes. With it, every batch of the journal gets an entry in the log.
	LogOrigin string `env:"LINEPROOF_LOG_ORIGIN" unset:"no public log" group:"Public log"`

	// LogKey is the Ed25519 key that signs the public log: a file with the key in PKCS #8 (PEM), as `lineproof log key` creates it, or `ssh-agent:` and the path of the socket of an agent that has one such key. Without it entries are added to the log, and nothing is published by this node.
	LogKey string `env:"LINEPROOF_LOG_KEY" unset:"this node publishes nothing" node:"own"`

	// LogNextKey is another key that signs beside LINEPROOF_LOG_KEY, in the same form, while the key of the log is replaced: those who verify with either key believe the log. It then becomes LINEPROOF_LOG_KEY.
	LogNextKey string `env:"LINEPROOF_LOG_NEXT_KEY" unset:"one key signs" node:"own"`

	// LogPostQuantumKey is a file with an ML-DSA-44 key in PKCS #8 (PEM), as `lineproof log key --post-quantum` creates it, which signs each checkpoint, too. Quantum computers could forge signatures with Ed25519, and not these. Receipts have them only on request.
	LogPostQuantumKey string `env:"LINEPROOF_LOG_POST_QUANTUM_KEY" unset:"Ed25519 only" node:"own"`

	// LogPolicy is a file that names the witnesses of the public log, with their keys and addresses, in the form of c2sp.org/tlog-policy. Each checkpoint is sent to them, and published with the signatures of those that answer within 2 seconds.
	LogPolicy string `env:"LINEPROOF_LOG_POLICY" unset:"no witnesses" node:"own"`

	// LogLevel is the least severe level that is logged.
	LogLevel string `env:"LINEPROOF_LOG_LEVEL, default=info" oneof:"debug|info|warn|error" group:"Observability" node:"own"`

	// LogFormat is the format of the log.
	LogFormat string `env:"LINEPROOF_LOG_FORMAT, default=json" oneof:"json|text" node:"own"`

	// TracesEndpoint is the URL to which OpenTelemetry traces are sent (OTLP over HTTP), for example http://127.0.0.1:4318. Set headers for it in OTEL_EXPORTER_OTLP_HEADERS.
	TracesEndpoint string `env:"LINEPROOF_TRACES_ENDPOINT" unset:"no traces" node:"own"`

	// Region is the country of the phone numbers, as two letters of ISO 3166.
	Region string `env:"LINEPROOF_REGION, default=NG" group:"Contract"`

	// RegulatorCode is the regulator's short code: the entityType of every entity. 1 to 32 printable ASCII characters.
	RegulatorCode string `env:"LINEPROOF_REGULATOR_CODE, default=REGULATOR"`

	// CACUnique refuses a second entity with the same CAC number.
	CACUnique bool `env:"LINEPROOF_CAC_UNIQUE, default=false"`

	// ClientOnboardings is how many entities one client may onboard per day (UTC), over all nodes. 0 means no limit.
	ClientOnboardings int `env:"LINEPROOF_CLIENT_ONBOARDINGS, default=50" min:"0" max:"1000000"`

	// ClientClashes is how many applications of one client per day (UTC) may name an admin whose e-mail address or phone number has an account, over all nodes. Then the client onboards nobody until the next day, and administrators are notified. 0 means no limit.
	ClientClashes int `env:"LINEPROOF_CLIENT_CLASHES, default=20" min:"0" max:"1000000"`

	// StaffLookups is how many different numbers and pages of an organisation's records one member of staff may look up per day (UTC), in the portal and over the API, over all nodes. A second person can allow as many again; administrators are notified when somebody has used theirs.
	StaffLookups int `env:"LINEPROOF_STAFF_LOOKUPS, default=200" min:"1" max:"1000000"`

	// DocumentTypesStrict refuses unknown document types. Otherwise such a document is stored as OTHER with its label.
	DocumentTypesStrict bool `env:"LINEPROOF_DOCUMENT_TYPES_STRICT, default=false"`

	// DocumentsRequired lists the types of documents, or labels, that an entity onboarded with isDocumentRequired must submit. If empty, none is required.
	DocumentsRequired []string `env:"LINEPROOF_DOCUMENTS_REQUIRED, default=CAC_CERTIFICATE,OPERATING_LICENCE" empty:"none"`

	// DocumentsRestrict refuses to create or roll a live API key of an entity while a required document is not accepted. Existing keys keep working.
	DocumentsRestrict bool `env:"LINEPROOF_DOCUMENTS_RESTRICT, default=false"`

	// ClamdAddr is the virus scanner, clamd: unix:/run/clamav/clamd.ctl, or host:port. The connection is neither encrypted nor authenticated, so it must stay on this machine, such as the end of a TLS tunnel; see LINEPROOF_UNVERIFIED_PEERS. No document is shown before it is scanned.
	ClamdAddr string `env:"LINEPROOF_CLAMD_ADDR" unset:"documents wait" node:"own"`

	// ClamdTimeout is how long the scan of one document may take before it is retried.
	ClamdTimeout time.Duration `env:"LINEPROOF_CLAMD_TIMEOUT, default=1m" min:"1s" max:"10m" node:"own"`

	// DrawUnconfined draws documents also where the kernel cannot confine the processes that do it, because it has no Landlock or no seccomp. Otherwise documents wait there: a file that takes over such a process could read the secrets of the service.
	DrawUnconfined bool `env:"LINEPROOF_DRAW_UNCONFINED, default=false" node:"own"`

	// DocumentRetention is how long a document is stored after the decision about it, by its type or its label; OTHER applies to every label that is not listed. A document under a legal hold is not deleted, nor is one that meets a requirement of an entity that is not revoked.
	DocumentRetention Retention `env:"LINEPROOF_DOCUMENT_RETENTION" unset:"without a limit"`

	// PepperList holds the keys with which stored credentials are hashed: comma separated, newest first, each at least 32 bytes. Add a new one at the front; keep an old one until no credential hashed with it is in use. If none is set, one is created in LINEPROOF_DATA/pepper, which works for a single node only.
	PepperList secret.Text `env:"LINEPROOF_PEPPERS" unset:"one is created at first use" group:"Credentials" node:"own"`

	// PasswordMin is the minimum number of characters of a password. The maximum is 128 and is not a setting.
	PasswordMin int `env:"LINEPROOF_PASSWORD_MIN, default=8" min:"8" max:"128"`

	// Argon2MemoryKiB is the memory that one password hash uses, in KiB.
	Argon2MemoryKiB uint32 `env:"LINEPROOF_ARGON2_MEMORY_KIB, default=19456" min:"8" max:"262144"`

	// Argon2Time is the number of passes over that memory.
	Argon2Time uint32 `env:"LINEPROOF_ARGON2_TIME, default=2" min:"1" max:"16"`

	// Argon2Parallel is how many passwords are hashed at the same time, for logins and for onboarding each; 0 means half of the cores.
	Argon2Parallel int `env:"LINEPROOF_ARGON2_PARALLEL, default=0" min:"0" max:"1024" node:"own"`

	// Argon2Queue is how many more may wait; beyond that a login is refused with 503 and Retry-After.
	Argon2Queue int `env:"LINEPROOF_ARGON2_QUEUE, default=32" min:"1" max:"100000" node:"own"`

	// TokenLifetime is how long an access token is valid.
	TokenLifetime time.Duration `env:"LINEPROOF_TOKEN_LIFETIME, default=1h" min:"1s" max:"24h"`

	// SessionLifetime is the maximum lifetime of a session.
	SessionLifetime time.Duration `env:"LINEPROOF_SESSION_LIFETIME, default=8h" min:"1s" max:"168h"`

	// SessionIdle is how long a session may be unused before it ends.
	SessionIdle time.Duration `env:"LINEPROOF_SESSION_IDLE, default=30m" min:"1s" max:"168h"`

	// AccessGrace is for how long a node accepts cached keys, tokens and sessions while the database does not answer. Credentials that are not cached are refused. 0 refuses all of them.
	AccessGrace time.Duration `env:"LINEPROOF_ACCESS_GRACE, default=60s" min:"0s" max:"1h"`

	// SecondFactor requires two-factor authentication of the people of organisations for what is dangerous: live keys, changes of the team, client secrets, webhooks of live events, files of numbers, and supplying lines. Logging in and sending documents need none.
	SecondFactor bool `env:"LINEPROOF_SECOND_FACTOR, default=true"`
	// StaffSecondFactor makes two-factor authentication mandatory for the regulator's staff: until they have set it up, their session can do nothing else.
	StaffSecondFactor bool `env:"LINEPROOF_STAFF_SECOND_FACTOR, default=true"`

	// Portal turns the web portal under /portal/ on or off. Links in e-mails point to it.
	Portal bool `env:"LINEPROOF_PORTAL, default=true"`

	// PublicURL is the public address of the service, without a slash at its end, such as https://lineproof.regulator.example. Links in e-mails start with it, and OAuth clients read it in the server metadata. It must be https, except on this machine, and is needed where LINEPROOF_LISTEN is not a loopback address.
	PublicURL string `env:"LINEPROOF_PUBLIC_URL" unset:"none" group:"E-mail"`

	// SMTPURL is the mail server for e-mails to users (invitations, password resets): smtp://user:password@host:587, or smtps://... for TLS from the start. Nothing is sent to another machine without TLS. It needs LINEPROOF_MAIL_FROM and LINEPROOF_PUBLIC_URL.
	SMTPURL secret.Text `env:"LINEPROOF_SMTP_URL" unset:"e-mails wait"`

	// MailFrom is the sender of e-mails, such as Lineproof <no-reply@regulator.example>.
	MailFrom string `env:"LINEPROOF_MAIL_FROM" unset:"none"`

	// VerifyTimeout is the time after which a verification fails with 503.
	VerifyTimeout time.Duration `env:"LINEPROOF_VERIFY_TIMEOUT, default=1s" min:"50ms" max:"30s" group:"Limits"`

	// VerifyBatch is the maximum number of answers per commit. With 1 every answer has a commit of its own.
	VerifyBatch int `env:"LINEPROOF_VERIFY_BATCH, default=256" min:"1" max:"1000" node:"own"`

	// VerifyFlushes is how many such commits may run at the same time. Another one starts when as many requests wait as the last one took.
	VerifyFlushes int `env:"LINEPROOF_VERIFY_FLUSHES, default=2" min:"1" max:"64" node:"own"`

	// VerifyQueue is the maximum number of requests that may wait for a commit in a burst. While requests arrive faster than they can be answered, the limit is a sixteenth of it. Beyond that a request is refused with 503 and Retry-After.
	VerifyQueue int `env:"LINEPROOF_VERIFY_QUEUE, default=4096" min:"1" max:"100000" node:"own"`

	// RequestTimeout is the same for every other request except an upload.
	RequestTimeout time.Duration `env:"LINEPROOF_REQUEST_TIMEOUT, default=10s" min:"1s" max:"5m"`

	// UploadTimeout is the same for an upload, including the transfer.
	UploadTimeout time.Duration `env:"LINEPROOF_UPLOAD_TIMEOUT, default=120s" min:"1s" max:"1h"`

	// UploadMaxBytes is the maximum size of a document.
	UploadMaxBytes int64 `env:"LINEPROOF_UPLOAD_MAX_BYTES, default=10485760" min:"1024" max:"1073741824"`

	// ImportMaxBytes is the maximum size of a supply file sent over the API, as it is sent: compressed or not.
	ImportMaxBytes int64 `env:"LINEPROOF_IMPORT_MAX_BYTES, default=4294967296" min:"1048576" max:"1099511627776"`

	// ImportMaxRows is the maximum number of lines of such a file, empty lines included. A file with more is rejected before anything of it is applied.
	ImportMaxRows int64 `env:"LINEPROOF_IMPORT_MAX_ROWS, default=300000000" min:"1000" max:"100000000000"`

	// ImportTimeout is how long the transfer of a supply file may take.
	ImportTimeout time.Duration `env:"LINEPROOF_IMPORT_TIMEOUT, default=30m" min:"1s" max:"24h"`

	// ImportCheckTimeout is how long the check of such a file may take, from its start in one process. A file that takes longer is rejected before anything of it is applied.
	ImportCheckTimeout time.Duration `env:"LINEPROOF_IMPORT_CHECK_TIMEOUT, default=12h" min:"1s" max:"168h"`

	// JobMaxRows is the maximum number of rows of a file of numbers that a bank sends to be verified.
	JobMaxRows int64 `env:"LINEPROOF_JOB_MAX_ROWS, default=5000000" min:"1000" max:"50000000"`

	// JobMaxBytes is the maximum size of such a file, as it is sent: compressed or not.
	JobMaxBytes int64 `env:"LINEPROOF_JOB_MAX_BYTES, default=536870912" min:"1048576" max:"17179869184"`

	// JobWaitingBytes is how many bytes of such files that have not been verified yet the service keeps for one organisation. When it has more, the next file is refused until jobs have ended.
	JobWaitingBytes int64 `env:"LINEPROOF_JOB_WAITING_BYTES, default=2147483648" min:"1048576" max:"1099511627776"`

	// JobKeep is how long the result of a file of numbers is kept. Then it is deleted.
	JobKeep time.Duration `env:"LINEPROOF_JOB_KEEP, default=168h" min:"1h" max:"2160h"`

	// WatchListMaxRows is the maximum number of lines of a file that replaces a watch-list, empty and rejected lines included. One file takes about a second of CPU for each million.
	WatchListMaxRows int64 `env:"LINEPROOF_WATCH_LIST_MAX_ROWS, default=10000000" min:"1000" max:"300000000"`

	// WatchListMaxBytes is the maximum size of such a file, as it is sent: compressed or not. Decompressed, it may have 64 bytes for each of its lines.
	WatchListMaxBytes int64 `env:"LINEPROOF_WATCH_LIST_MAX_BYTES, default=268435456" min:"1048576" max:"17179869184"`

	// RedisURL is the Redis server with which all nodes share their rate limits, as redis://user:password@host:port/db, rediss:// for TLS or unix:// for a socket. While it is unavailable or slow, each node limits by itself, with half of every rate.
	RedisURL secret.Text `env:"LINEPROOF_REDIS_URL" unset:"each node limits by itself, in memory"`

	// KeyRate is the number of requests per second allowed with one API key, unless the key has a rate of its own.
	KeyRate int `env:"LINEPROOF_KEY_RATE, default=50" min:"1" max:"1000000"`

	// KeyBurst is how many of them may arrive at once.
	KeyBurst int `env:"LINEPROOF_KEY_BURST, default=100" min:"1" max:"1000000"`

	// EntityRate is the number of requests per second allowed with all keys of an organisation together, unless staff have set another.
	EntityRate int `env:"LINEPROOF_ENTITY_RATE, default=500" min:"1" max:"1000000"`

	// EntityBurst is how many of them may arrive at once.
	EntityBurst int `env:"LINEPROOF_ENTITY_BURST, default=1000" min:"1" max:"1000000"`

	// ClientRate is the number of requests per second allowed with all tokens of one client together. A request can have 1,000 events.
	ClientRate int `env:"LINEPROOF_CLIENT_RATE, default=20" min:"1" max:"1000000"`

	// ClientBurst is how many of them may arrive at once.
	ClientBurst int `env:"LINEPROOF_CLIENT_BURST, default=100" min:"1" max:"1000000"`

	// SessionRate is the number of requests per second allowed in one session, in the portal and in the API together.
	SessionRate int `env:"LINEPROOF_SESSION_RATE, default=20" min:"1" max:"1000000"`

	// SessionBurst is how many of them may arrive at once.
	SessionBurst int `env:"LINEPROOF_SESSION_BURST, default=100" min:"1" max:"1000000"`

	// KeyConcurrent is how many requests of one API key a node works on at once.
	KeyConcurrent int `env:"LINEPROOF_KEY_CONCURRENT, default=256" min:"1" max:"100000"`

	// ClientConcurrent is how many requests of one client a node works on at once.
	ClientConcurrent int `env:"LINEPROOF_CLIENT_CONCURRENT, default=4" min:"1" max:"100000"`

	// SessionConcurrent is how many requests of one session a node works on at once.
	SessionConcurrent int `env:"LINEPROOF_SESSION_CONCURRENT, default=8" min:"1" max:"100000"`

	// AddressRate is the number of requests per second without a valid credential allowed from one network: 256 addresses of IPv4 (/24), or a /48 of IPv6. Logins and token requests are among them.
	AddressRate int `env:"LINEPROOF_ADDRESS_RATE, default=10" min:"1" max:"1000000"`

	// AddressBurst is how many of them may arrive at once.
	AddressBurst int `env:"LINEPROOF_ADDRESS_BURST, default=100" min:"1" max:"1000000"`

	// AddressConns is how many connections to the public listener one address may have open at once: an address of IPv4, or a /64 of IPv6. More are closed at once. LINEPROOF_TRUSTED_PROXIES and this machine are excepted.
	AddressConns int `env:"LINEPROOF_ADDRESS_CONNS, default=1024" min:"1" max:"1000000"`

	// FileRate is the number of requests per second for the API reference and the portal's scripts and styles allowed from one network.
	FileRate int `env:"LINEPROOF_FILE_RATE, default=50" min:"1" max:"1000000"`

	// FileBurst is how many of them may arrive at once.
	FileBurst int `env:"LINEPROOF_FILE_BURST, default=500" min:"1" max:"1000000"`

	// DayNumbers is how many different phone numbers an organisation may verify per day (UTC), unless staff have set another limit (lineproof limits set). Repeating a number on the same day does not count. 0 means no limit.
	DayNumbers int64 `env:"LINEPROOF_DAY_NUMBERS, default=100000" min:"0" max:"1000000000"`

	// DayQuota is how many verifications of an organisation are answered per day (UTC), unless staff have set another limit. 0 means no limit.
	DayQuota int64 `env:"LINEPROOF_DAY_QUOTA, default=0" min:"0" max:"1000000000000"`

	// MonthQuota is the same limit per month.
	MonthQuota int64 `env:"LINEPROOF_MONTH_QUOTA, default=0" min:"0" max:"1000000000000"`

	// SponsorDayNumbers is how many different phone numbers all organisations that the same client onboarded may verify together per day (UTC), or as many as staff have allowed one of them. A number that two of them verify counts twice. 0 means no limit.
	SponsorDayNumbers int64 `env:"LINEPROOF_SPONSOR_DAY_NUMBERS, default=100000" min:"0" max:"1000000000"`

	// YearNumbers is how many different phone numbers an organisation may verify per year (UTC), its licensed size, unless staff have set another limit (lineproof limits set). A number counts once a year; the count is an estimate within 1 %. 0 means no limit.
	YearNumbers int64 `env:"LINEPROOF_YEAR_NUMBERS, default=5000000" min:"0" max:"1000000000"`

	// SponsorYearNumbers is how many different phone numbers all organisations that the same client onboarded may verify together per year (UTC), or as many as staff have allowed one of them. 0 means no limit.
	SponsorYearNumbers int64 `env:"LINEPROOF_SPONSOR_YEAR_NUMBERS, default=5000000" min:"0" max:"1000000000"`

	// ScanGuard is what happens to an organisation whose requests look like number scanning: stop slows it down and, if it continues, stops it; watch only notifies staff; off does nothing.
	ScanGuard string `env:"LINEPROOF_SCAN_GUARD, default=stop" oneof:"stop|watch|off"`

	// WebhookBlocked lists networks to which no webhook is sent, beside those that are not on the public internet: list the public addresses of your own data centre.
	WebhookBlocked []netip.Prefix `env:"LINEPROOF_WEBHOOK_BLOCKED" unset:"none" group:"Webhooks"`

	// WebhookLoopback allows test-mode webhook endpoints at http://127.0.0.1, for development on one machine. Never set it where others can add endpoints: they could reach every service of the machine.
	WebhookLoopback bool `env:"LINEPROOF_WEBHOOK_LOOPBACK, default=false"`

	// WebhookLoopbackLive allows live-mode endpoints at http://127.0.0.1 as well, for a demonstration with fictitious lines. It needs LINEPROOF_WEBHOOK_LOOPBACK and a LINEPROOF_LISTEN on this machine.
	WebhookLoopbackLive bool `env:"LINEPROOF_WEBHOOK_LOOPBACK_LIVE, default=false"`
}
