.DEFAULT_GOAL := help
SHELL := bash

# Tools are pinned in tools/go.mod, so that their dependencies do not become
# dependencies of the product.
TOOL := CGO_ENABLED=0 go tool -modfile=tools/go.mod

# go.mod names the exact Go that builds and tests; an older one, also Debian's, fetches it.
export GOTOOLCHAIN ?= auto

# The linter caches findings by the path of the checkout. A shared cache would
# report files of another checkout, so each checkout has its own.
export GOLANGCI_LINT_CACHE := $(CURDIR)/bin/lint-cache

# What check does, in this order.
CHECKS := lint test e2e

# Tested with the race detector for every patch: the packages in which goroutines
# share memory. make race-detector runs it over everything else, nightly, and over
# supply, whose tests take three times as long with it.
WITH_RACE := /internal/(access|access/guard|access/idempotency|answer/verify|evidence/journal|evidence/tally|notify/feed|platform/blob|platform/limit|platform/pg|platform/telemetry|server|server/jobs|web)$$

# Of these packages only some tests concern it: those of httpapi in which requests run at
# once, and all but the simulations of guard, in which one goroutine does everything.
RACING_REQUESTS := Parallel|Poll|Stream|Limit
SIMULATIONS := TestSlowHarvestsAreFound|TestHonestQuarterStopsNobody

# Not part of test: what starts servers of its own, for which there are e2e and
# browser.
END_TO_END := /internal/testing/e2e$$

# Not part of e2e either: what only a longer run can show. Each has a target of its
# own, which the nightly starts.
NIGHTLY_ONLY := TestBrowser|TestVerifyDuringImport|TestRevocationReachesEveryNode|TestLoginFlood|TestLoginTiming|TestDocumentsMemory|TestLimitsWithoutRedis|TestPortalLoad|TestWebhookKill|TestWebhookHang

# The sizes of the long runs. Their last figures stand in
# docs/reference/measurements.md beside the command that made them.
ROUNDS ?= 1000
PARALLEL ?= 100
BESIDE_RATE ?= 100
BESIDE_ROUNDS ?= 3
KILLS ?= 50
DRAINS ?= 20
ERASE_KILLS ?= 20
ERASED ?= 1000
REQUESTS ?= 1000000
WORKERS ?= 48
EVENTS ?= 10000000
MESSAGES ?= 1000000
OUTBOX_CHANGES ?= 1000000
LIST ?= 100000000
LINES ?= 20000000
CHANGES ?= 4000000
DEMO_LINES ?= 1000000
IMPACT_ANSWERS ?= 1000000
IMPACT_ROWS ?= 4000000
DERIVED ?= 1000000
IMPORT_ROWS ?= 5000000
JOB_ROWS ?= 5000000
JOB_KILLS ?= 20
DAYS ?= 90
ANSWERS_A_DAY ?= 1000000
OPEN_DAY ?= 500000
RECORDS ?= 1000000
LOG_RATE ?= 5000
LOG_SECONDS ?= 600
COST_RATE ?= 3000
COST_ROUNDS ?= 5
PAIRS ?= 300000000
FEED_CHANGES ?= 1000000
FEED_RESTORES ?= 3
RECEIPTS ?= 1000
TAMPERINGS ?= 10000
UNTOUCHED ?= 1000
PUBLIC_ANSWERS ?= 100000
RATE ?= 1000
PHASE ?= 60
ANSWERS ?= 2500
FAULTS ?= 100
FAULT_TOTAL ?= 1000000
FAULT_LEDGER ?= /dev/shm
HA_ROUNDS ?= 5
UPGRADE_RATE ?= 300
UPGRADE_LINES ?= 2000000
UPGRADE_SECONDS ?= 20
PGBACKREST_SECONDS ?= 20
PGBACKREST_LINES ?= 5000000
OVERLOAD ?= 120
ACCOUNTS ?= 1000
GUESSES ?= 10000
LOGINS ?= 2000
LIMIT ?= 500
LIMIT_SECONDS ?= 30
REVOCATIONS ?= 300
SCAN ?= 1000000
SPONSORED ?= 1000
HARVEST ?= 10000000
ENTITIES ?= 1000
KEYS ?= 10000
ENTRIES ?= 50000000
REFUSED ?= 5000000
PAGES ?= 100
UPLOADS ?= 50
SCAN_KILLS ?= 20
LOOKS ?= 2
FUZZTIME ?= 30s
DIST_FOR ?= amd64,arm64
BENCH ?= -lines 20000000 -grow-c 16,64,128,256,512 -grow-lines 1000000,20000000,100000000

# A long run of one test: name, its settings, and its package if that is not
# internal/testing/e2e. The first line fails when no test has that name, for go test
# alone would pass. What it writes goes to a disk and not into memory.
define long_run
	@go test -list '^$(1)$$' ./$(or $(3),internal/testing/e2e) | grep -qx '$(1)' || { echo '$(or $(3),internal/testing/e2e) has no $(1)' >&2; exit 1; }
	TMPDIR=$${TMPDIR:-/tmp} $(2) go test -count=1 -v -timeout 6h -run '^$(1)$$' ./$(or $(3),internal/testing/e2e)
endef

# The version of the image, as a tag can have it.
IMAGE_VERSION ?= $(shell git describe --tags --always --dirty | sed 's/^v//')
IMAGE := dist/lineproof-$(IMAGE_VERSION).oci.tar

BROWSER := internal/testing/browser

# A fault of its full count, or of FAULTS per cent of it.
FAULT_RUN = LINEPROOF_E2E_LEDGER=$(FAULT_LEDGER) LINEPROOF_E2E_RESULTS=$(CURDIR)/bin/faults.jsonl LINEPROOF_E2E_ANSWERS=$(ANSWERS) LINEPROOF_E2E_CALLERS=64
fault = $(call long_run,$(1),$(FAULT_RUN) LINEPROOF_E2E_ENFORCE=1 LINEPROOF_E2E_FAULTS=$$(( ($(2) * $(FAULTS) + 99) / 100 )))

##@ Every day

.PHONY: help
help: ## Show this list
	@awk -v width=80 ' \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { \
	    name = $$0; sub(/:.*/, "", name); text = $$0; sub(/.*## /, "", text); \
	    count = split(text, words, " "); line = sprintf("  %-17s", name); \
	    for (i = 1; i <= count; i++) { \
	      if (length(line) + 1 + length(words[i]) > width) { print line; line = sprintf("  %-17s", "") } \
	      line = line " " words[i] } \
	    print line }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/lineproof and bin/lineproof-nation
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/lineproof ./cmd/lineproof-nation

.PHONY: dev
dev: ## Start the service with demo data and an account for every role, and rebuild on save
	tools/dev

bin/versitygw: tools/s3/go.mod
	CGO_ENABLED=0 go build -trimpath -modfile=tools/s3/go.mod -o $@ github.com/versity/versitygw/cmd/versitygw

.PHONY: s3
s3: bin/versitygw ## Build the S3 server of the tests, bin/versitygw

# Two minutes and a half, so it is built once.
bin/helm: tools/helm/go.mod
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -modfile=tools/helm/go.mod -o $@ helm.sh/helm/v3/cmd/helm

.PHONY: generate
generate: ## Rebuild everything that is generated: pages, schema.sql, the references of settings and commands, dashboards
	$(TOOL) templ generate -path internal/web/portal
	go test ./internal/server/config -run Reference -count=1 -update
	go test ./internal/cli -run Reference -count=1 -update
	go test ./internal/regulator/approval -run Reference -count=1 -update
	go test ./internal/line -run Reference -count=1 -update
	go test ./internal/testing/dashboard -run Fresh -count=1 -update
	go test ./internal/line/sandbox -run Reference -count=1 -update
	go test ./internal/platform/pg -run Schema -count=1 -update
	go test ./internal/testing/receipttest -run Vectors -count=1 -update
	go test ./internal/testing/repository -run Pictures -count=1 -update

.PHONY: fmt
fmt: ## Format the Go code
	$(TOOL) golangci-lint fmt

.PHONY: lint
lint: ## Check the format, lint, and prove that generated pages are fresh
	$(TOOL) golangci-lint fmt --diff
	$(TOOL) golangci-lint run
	$(TOOL) templ generate -check -path internal/web/portal

.PHONY: test
test: bin/versitygw ## Run the tests of every package, with the race detector where goroutines share memory
	go test -race -shuffle=on -timeout 20m -skip '$(SIMULATIONS)' $$(go list ./... | grep -E '$(WITH_RACE)')
	go test -race -shuffle=on -timeout 20m -run '$(RACING_REQUESTS)' ./internal/web/httpapi/...
	go test -shuffle=on -timeout 20m -run '$(SIMULATIONS)' ./internal/access/guard
	go test -shuffle=on -timeout 20m $$(go list ./... | grep -vE '$(WITH_RACE)|$(END_TO_END)')

.PHONY: e2e
e2e: bin/versitygw ## Run the short forms of the proofs that start servers, kill them and compare
	go test -shuffle=on -timeout 20m -skip '$(NIGHTLY_ONLY)' ./internal/testing/e2e

.PHONY: check
check: ## Everything a patch must pass but the browser: format, lint, fresh generated code, tests
	@for part in $(CHECKS); do \
		start=$$(date +%s); \
		$(MAKE) --no-print-directory "$$part" || { echo "== failed: $$part" >&2; exit 1; }; \
		echo "== $$(( $$(date +%s) - start ))s $$part"; \
	done

.PHONY: browser
browser: $(BROWSER)/node_modules/.package-lock.json ## Use the portal and the guide in Chromium: from an invitation to an API key, nine tasks with counted acts, from the landing page of the guide to an answer, receipts with the network off, charts, and every page in LOOKS (2) of its 4 looks
	$(call long_run,TestBrowserWalk)
	$(call long_run,TestBrowserTasks)
	$(call long_run,TestBrowserGuide,LINEPROOF_E2E_LOOKS=$(LOOKS) LINEPROOF_E2E_PAGES=200)
	$(call long_run,TestBrowserReceipts,LINEPROOF_E2E_LOOKS=$(LOOKS))
	$(call long_run,TestBrowserCharts,LINEPROOF_E2E_LOOKS=$(LOOKS))
	$(call long_run,TestBrowserPages,LINEPROOF_E2E_LOOKS=$(LOOKS) LINEPROOF_E2E_PAGES=150)

.PHONY: screenshots
screenshots: $(BROWSER)/node_modules/.package-lock.json ## Take pictures of every page of the portal, into bin/screenshots
	rm -rf bin/screenshots
	$(call long_run,TestBrowserShots,LINEPROOF_E2E_SHOTS=$(CURDIR)/bin/screenshots)
	$(call long_run,TestBrowserCharts,LINEPROOF_E2E_SHOTS=$(CURDIR)/bin/screenshots)

.PHONY: race-detector
race-detector: bin/versitygw ## Run every test with the race detector, also in the servers that the tests start
	go test -race -shuffle=on -timeout 60m $$(go list ./... | grep -vE '/internal/platform/inspect|$(END_TO_END)')
	go test -race -shuffle=on -timeout 60m -skip TestBrowser ./internal/testing/e2e # browser and browser-xss have their own targets

.PHONY: nightly
nightly: ## Run the long proofs at the sizes of a night, and write bin/nightly/summary.md
	bash .ci/nightly

.PHONY: clean
clean: ## Remove what was built, cached test results and fuzz inputs
	rm -rf bin dist
	go clean -testcache -fuzzcache

##@ Nothing is lost

.PHONY: race
race: ## Onboard the same admin concurrently, ROUNDS rounds (1000): exactly one may succeed
	$(call long_run,TestRaceOnboard,LINEPROOF_E2E_ROUNDS=$(ROUNDS))

.PHONY: kill
kill: ## Kill the server under load KILLS times (50) and look for lost or doubled records
	$(call long_run,TestKill,LINEPROOF_E2E_KILLS=$(KILLS))

.PHONY: drain
drain: ## Stop the server under load DRAINS times (20) and look for requests without a response
	$(call long_run,TestDrain,LINEPROOF_E2E_DRAINS=$(DRAINS))

.PHONY: faults
faults: ## Kill, cut, fill, slow and promote server and PostgreSQL under load, FAULTS per cent (100) of the counts; no acknowledged record may be lost
	@mkdir -p bin && rm -f bin/faults.jsonl
	$(call fault,TestFaultServerKilled,200)
	$(call fault,TestFaultPostgresKilled,50)
	$(call fault,TestFaultTerminated,50)
	$(call fault,TestFaultConnectionsCut,100)
	$(call fault,TestFaultDiskFull,5)
	$(call fault,TestFaultSlowDisk,5)
	$(call fault,TestFaultPowerCut,10)
	$(call fault,TestFaultCommitCancelled,100)
	$(call fault,TestFaultPromotion,20)
	$(call long_run,TestFaultsInTotal,$(FAULT_RUN) LINEPROOF_E2E_TOTAL=$(FAULT_TOTAL))

.PHONY: ha
ha: ## Break every part of deploy/ha (Patroni, etcd, PostgreSQL, nodes, HAProxy) under load, HA_ROUNDS times (5); no acknowledged record may be lost. Needs patroni, etcd-server and haproxy
	$(call long_run,TestDoctorOfACluster,LINEPROOF_E2E_HA=1)
	$(call long_run,TestHighAvailability,LINEPROOF_E2E_HA=1 LINEPROOF_E2E_ROUNDS=$(HA_ROUNDS))

.PHONY: upgrade
upgrade: ## Upgrade two nodes behind HAProxy to a release with more migrations and back, at UPGRADE_RATE (300) requests a second to all operations over UPGRADE_LINES (2000000) lines, UPGRADE_SECONDS (20) between the steps. Needs haproxy
	$(call long_run,TestUpgrade,LINEPROOF_E2E_UPGRADE=1 LINEPROOF_E2E_RATE=$(UPGRADE_RATE) LINEPROOF_E2E_LINES=$(UPGRADE_LINES) LINEPROOF_E2E_SECONDS=$(UPGRADE_SECONDS))

.PHONY: pgbackrest
pgbackrest: ## Back up under load with pgBackRest, PGBACKREST_SECONDS (20) before and after, with PGBACKREST_LINES (5000000), lose the database and restore it to a point in time with documents and log, by the commands of docs/how-to/back-up-and-restore.md. Needs pgbackrest
	$(call long_run,TestRestore,LINEPROOF_E2E_PGBACKREST=1 LINEPROOF_E2E_SECONDS=$(PGBACKREST_SECONDS) LINEPROOF_E2E_LINES=$(PGBACKREST_LINES))

.PHONY: import-kill
import-kill: ## Kill an import of IMPORT_ROWS rows (5000000) KILLS times (50), of the server and of the command
	$(call long_run,TestImportKill,LINEPROOF_E2E_IMPORT_ROWS=$(IMPORT_ROWS) LINEPROOF_E2E_IMPORT_KILLS=$(KILLS))

.PHONY: jobs-kill
jobs-kill: ## Verify a file of JOB_ROWS rows (5000000) beside RATE (1000) requests a second, killed JOB_KILLS (20) times; ENFORCE=1 fails above 15 minutes or twice the p99
	$(call long_run,TestJobKill,LINEPROOF_E2E_JOB_ROWS=$(JOB_ROWS) LINEPROOF_E2E_JOB_KILLS=$(JOB_KILLS) LINEPROOF_E2E_RATE=$(RATE) LINEPROOF_E2E_SECONDS=$(PHASE) $(if $(ENFORCE),LINEPROOF_E2E_RATIO=2 LINEPROOF_E2E_MINUTES=15))

.PHONY: archive-kill
archive-kill: ## Kill the archiving of the journal KILLS times (50) and look for lost records
	$(call long_run,TestArchiveKill,LINEPROOF_E2E_ARCHIVE_KILLS=$(KILLS))

.PHONY: erase-kill
erase-kill: ## Erase ERASED (1000) records in the database and the archive, kill the command ERASE_KILLS times (20), and search every byte of their files
	$(call long_run,TestEraseKill,LINEPROOF_E2E_ERASE_KILLS=$(ERASE_KILLS) LINEPROOF_E2E_ERASE_RECORDS=$(ERASED))

.PHONY: log-kill
log-kill: ## Kill three nodes that keep the public log KILLS times (50), promote standbys, and verify receipts
	$(call long_run,TestPublicLogKill,LINEPROOF_E2E_KILLS=$(KILLS) LINEPROOF_E2E_RECEIPTS=20000)

.PHONY: webhook-kill
webhook-kill: ## Kill two nodes that send webhooks KILLS times (50), to receivers that hang, cut and fail, and look for lost, disordered and altered events
	$(call long_run,TestWebhookKill,LINEPROOF_E2E_KILLS=$(KILLS))

.PHONY: feed-faults
feed-faults: ## Kill nodes, sessions and the database, promote standbys and restore backups (FEED_RESTORES, 3) while FEED_CHANGES (1000000) changes are written, and compare every feed, read by the client and sent by webhook
	$(call long_run,TestFeedFaults,LINEPROOF_E2E_CHANGES=$(FEED_CHANGES) LINEPROOF_E2E_RESTORES=$(FEED_RESTORES) LINEPROOF_E2E_PROMOTE=20)

.PHONY: documents-s3
documents-s3: bin/versitygw ## Kill, freeze and slow the bucket KILLS times (50) under uploads; no acknowledged document may be lost or served in part
	$(call long_run,TestDocumentsS3,LINEPROOF_E2E_KILLS=$(KILLS) LINEPROOF_E2E_OUTAGE=45)

.PHONY: documents-scan
documents-scan: ## Kill the virus scanner over a document SCAN_KILLS times (20): none may become clean without a whole scan
	$(call long_run,TestScannerKilled,LINEPROOF_E2E_SCAN_KILLS=$(SCAN_KILLS))

##@ What is answered, and its proof

.PHONY: random
random: ## Report EVENTS (10000000) random events and compare every row with a simple model
	$(call long_run,TestRandomEventsMakeTheRowsThatASimpleModelMakes,LINEPROOF_E2E_EVENTS=$(EVENTS),internal/line/supply)

.PHONY: liar
liar: ## Let an operator send MESSAGES (1000000) lies: no answer about other networks' lines may get better by them; then a clearing house that lies, which is only measured
	$(call long_run,TestLiarOperator,LINEPROOF_E2E_MESSAGES=$(MESSAGES),internal/line/supply)
	$(call long_run,TestLiarClearingHouse,LINEPROOF_E2E_HOUSE_MESSAGES=$$(( $(MESSAGES) / 20 )),internal/line/supply)

.PHONY: outbox
outbox: ## Change few numbers OUTBOX_CHANGES (1000000) times by 24 writers of which some roll back: the reader of the outbox misses none, and gets those of a number in order
	$(call long_run,TestNoChangeIsMissed,LINEPROOF_E2E_CHANGES=$(OUTBOX_CHANGES),internal/line/outbox)

.PHONY: derive
derive: ## Derive DERIVED (1000000) answers again that were given while events and files were reported
	$(call long_run,TestEveryAnswerIsDerivedAgain,LINEPROOF_E2E_DERIVED_ANSWERS=$(DERIVED),internal/answer/verify)

.PHONY: impact
impact: ## Compare the impact of corrections, and the notices about it, with a replay of IMPACT_ANSWERS (1000000) answers, and time that of a file of IMPACT_ROWS rows (4000000)
	$(call long_run,TestImpactIsWhatAReplayOfEveryAnswerFinds,LINEPROOF_E2E_IMPACT_ANSWERS=$(IMPACT_ANSWERS),internal/answer/verify)
	$(call long_run,TestNoticesAreWhatAReplayOfEveryAnswerFinds,LINEPROOF_E2E_IMPACT_NOTICES=$(IMPACT_ANSWERS),internal/answer/verify)
	$(call long_run,TestImpactOfALargeFile,LINEPROOF_E2E_IMPACT_ROWS=$(IMPACT_ROWS) LINEPROOF_E2E_IMPACT_ANSWERS=$(IMPACT_ANSWERS),internal/answer/verify)

.PHONY: who-asked
who-asked: ## Find all answers about one number in DAYS (90) days of ANSWERS_A_DAY (1000000), most of them archived, and in an open day of OPEN_DAY (500000)
	$(call long_run,TestWhoAskedOverAQuarter,LINEPROOF_E2E_DAYS=$(DAYS) LINEPROOF_E2E_ANSWERS_A_DAY=$(ANSWERS_A_DAY),internal/evidence/journal)
	$(call long_run,TestSearchOfTheOpenDayIsBounded,LINEPROOF_E2E_OPEN_DAY=$(OPEN_DAY),internal/evidence/journal)

.PHONY: receipts
receipts: ## Let the verifiers in Go, JavaScript and Python judge RECEIPTS good receipts and as many altered ones (1,000 each)
	LINEPROOF_RECEIPTS=$(RECEIPTS) go test -count=1 -v -run 'TestVerifiersJudgeAlike|TestVectors' ./internal/testing/receipttest

.PHONY: tampering
tampering: ## Attack the evidence TAMPERINGS times (10000) with database, files and key of the log: all are found; and UNTOUCHED (1000) worlds are not reported
	$(call long_run,TestTampering,TMPDIR= LINEPROOF_TAMPERINGS=$(TAMPERINGS),internal/testing/tampering)
	$(call long_run,TestUntouchedWorldsAreNotReported,TMPDIR= LINEPROOF_UNTOUCHED=$(UNTOUCHED),internal/testing/tampering)

.PHONY: privacy
privacy: ## Search everything that is public after PUBLIC_ANSWERS (100000) answers for numbers, organisations, keys, ids and statuses in every encoding, and test guesses against it
	$(call long_run,TestPublicLogShowsNothing,LINEPROOF_E2E_ANSWERS=$(PUBLIC_ANSWERS))

##@ Attackers

.PHONY: thief
thief: ## Try everything that a stolen login of the service could do, together with requests
	$(call long_run,TestStolenServiceLoginWithRequests,LINEPROOF_E2E_THIEF=all,internal/server)

.PHONY: parallel
parallel: ## Send every request and form that changes something 32 times at once, PARALLEL rounds (100): no server error, no double effect
	$(call long_run,TestParallelRequestsTakeEffectOnce,LINEPROOF_E2E_ROUNDS=$(PARALLEL),internal/web/httpapi)
	$(call long_run,TestParallelFormsTakeEffectOnce,LINEPROOF_E2E_ROUNDS=$(PARALLEL),internal/web/portal)

.PHONY: scan
scan: ## Scan SCAN numbers (1000000) in three patterns, over HTTP and in memory, and replay as many honest requests
	$(call long_run,TestScan,LINEPROOF_E2E_SCAN=$(SCAN))
	$(call long_run,TestScansAreStopped,LINEPROOF_E2E_SCAN=$(SCAN),internal/access/guard)
	$(call long_run,TestHonestUsageStopsNobody,LINEPROOF_E2E_SCAN=$(SCAN),internal/access/guard)

.PHONY: sponsors
sponsors: ## Scan with SPONSORED organisations (1000) of one client over two nodes, in memory: flagged within a minute
	$(call long_run,TestOrganisationsOfOneSponsorAreJudgedTogether,LINEPROOF_E2E_SPONSOR=$(SPONSORED),internal/access/guard)

.PHONY: harvest
harvest: ## Harvest slowly in four styles over 90 simulated days, and replay HARVEST (10000000) honest requests over as many: the styles are stopped, nobody else is
	$(call long_run,TestSlowHarvestsAreFound,,internal/access/guard)
	$(call long_run,TestHonestQuarterStopsNobody,LINEPROOF_E2E_HARVEST=$(HARVEST),internal/access/guard)

.PHONY: watch-abuse
watch-abuse: ## Show that a watch-list of a million random numbers is held and tells nothing, and that lists of 50,000 which are replaced weekly for a year show no more numbers than the budget
	$(call long_run,TestListOfRandomNumbersTellsNothing,LINEPROOF_E2E_LIST=1000000,internal/notify/distribute)
	$(call long_run,TestWeeklyListsNeverShowMoreThanTheYear,LINEPROOF_E2E_WEEKLY=50000,internal/notify/watchlist)

.PHONY: login
login: ## Time logins at ACCOUNTS (1000) known and as many unknown accounts, guess GUESSES times (10000), verify at 500/s beside LOGINS (2000) logins at once, log in from a known device beside 40 wrong logins a second, and log in beside 2,000/s
	$(call long_run,TestLoginTiming,LINEPROOF_E2E_ACCOUNTS=$(ACCOUNTS) LINEPROOF_E2E_ACCOUNTS_SHIPPED=$(ACCOUNTS))
	$(call long_run,TestLoginGuesses,LINEPROOF_E2E_GUESSES=$(GUESSES))
	$(call long_run,TestLoginFlood,LINEPROOF_E2E_LOGINS=$(LOGINS) LINEPROOF_E2E_RATE=500 LINEPROOF_E2E_SECONDS=20)
	$(call long_run,TestKnownDevicesGetIn,LINEPROOF_E2E_SECONDS=60)
	$(call long_run,TestLoginBesideVerify,LINEPROOF_E2E_RATE=2000 LINEPROOF_E2E_SECONDS=20 LINEPROOF_E2E_ENFORCE=$(ENFORCE))

.PHONY: limits
limits: ## Send requests with 200 keys of one entity from 200 addresses to two nodes for LIMIT_SECONDS (30) at a limit of LIMIT (500) a second, and kill Redis during it
	$(call long_run,TestLimitsOverTwoNodes,LINEPROOF_E2E_LIMIT=$(LIMIT) LINEPROOF_E2E_SECONDS=$(LIMIT_SECONDS))
	$(call long_run,TestLimitsWithoutRedis,LINEPROOF_E2E_LIMIT=200 LINEPROOF_E2E_SECONDS=5 LINEPROOF_E2E_KILLS=5)
	$(call long_run,TestLimitsAreNotForged)

.PHONY: revoke
revoke: ## Revoke keys, entities and sessions on two nodes, REVOCATIONS times (300), and time the last accepted request
	$(call long_run,TestRevocationReachesEveryNode,LINEPROOF_E2E_REVOCATIONS=$(REVOCATIONS))

.PHONY: documents-corpus
documents-corpus: ## Upload every hostile and every honest file of the corpus: each reaches people as pixels or not at all, every honest one becomes clean
	$(call long_run,TestDocumentsCorpus,LINEPROOF_E2E_CORPUS=100)

.PHONY: documents-memory
documents-memory: bin/versitygw ## Measure the memory of UPLOADS (50) uploads of 10 MiB at once, and refuse a body of 5 GB
	$(call long_run,TestDocumentsMemory,LINEPROOF_E2E_UPLOADS=$(UPLOADS))

.PHONY: browser-xss
browser-xss: $(BROWSER)/node_modules/.package-lock.json ## Send hostile text through every form of the portal and open every page in Chromium
	$(call long_run,TestBrowserXSS,LINEPROOF_E2E_PAGES=150)

.PHONY: fuzz-server
fuzz-server: ## Send REQUESTS (1000000) damaged requests to a running server
	$(call long_run,TestFuzzedRequests,LINEPROOF_E2E_REQUESTS=$(REQUESTS) LINEPROOF_E2E_WORKERS=$(WORKERS))

.PHONY: fuzz
fuzz: ## Run each Go fuzz target for FUZZTIME (30s)
	@targets=$$(grep -rEo --include='*_test.go' --exclude-dir=.git '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's|/[^/]+:func | |' | sort); \
	test -n "$$targets" || { echo 'there is no fuzz target' >&2; exit 1; }; \
	while read -r dir target; do \
		echo "== $$target in $$dir"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzzminimizetime 20x -fuzztime $(FUZZTIME) "$$dir" </dev/null || exit 1; \
	done <<<"$$targets"

##@ Speed and size

.PHONY: bench
bench: ## Measure verify beside net/http and pgbench, and write docs/reference/measurements.md (flags: BENCH)
	go run ./cmd/bench -write docs/reference/measurements.md -history docs/reference/bench-history.json $(BENCH)

.PHONY: bench-compare
bench-compare: ## Measure as bench does, and fail when a ratio is worse than the last one recorded by more than its noise
	go run ./cmd/bench -rounds 5 -seconds 6 -history docs/reference/bench-history.json -compare-history

.PHONY: beside
beside: ## Verify at BESIDE_RATE (100) a second beside suppliers, exports, batches of numbers, pages and files, BESIDE_ROUNDS (3) times PHASE seconds each
	$(call long_run,TestVerifyBeside,LINEPROOF_E2E_RATE=$(BESIDE_RATE) LINEPROOF_E2E_ROUNDS=$(BESIDE_ROUNDS) LINEPROOF_E2E_SECONDS=$(PHASE) LINEPROOF_E2E_ENTRIES=20000)

.PHONY: overload
overload: ## Offer three times the capacity for OVERLOAD seconds (120), then ten times the load after an outage
	$(call long_run,TestOverload,LINEPROOF_E2E_SECONDS=$(OVERLOAD) LINEPROOF_E2E_ENFORCE=$(ENFORCE))

.PHONY: import-load
import-load: ## Verify at RATE (1000) requests a second, PHASE seconds (60) without and then with an import of IMPORT_ROWS rows
	$(call long_run,TestVerifyDuringImport,LINEPROOF_E2E_IMPORT_ROWS=$(IMPORT_ROWS) LINEPROOF_E2E_RATE=$(RATE) LINEPROOF_E2E_SECONDS=$(PHASE))

.PHONY: archive-load
archive-load: ## Verify at RATE (1000) requests a second, PHASE seconds (60) without and then while RECORDS (1000000) records are archived
	$(call long_run,TestVerifyDuringArchive,LINEPROOF_E2E_ARCHIVE_RECORDS=$(RECORDS) LINEPROOF_E2E_RATE=$(RATE) LINEPROOF_E2E_SECONDS=$(PHASE))

.PHONY: archive-rate
archive-rate: ## Check and archive a day of RECORDS (1000000) records, and measure the CPU of each and the oldest snapshot; ENFORCE=1 fails above the goals
	$(call long_run,TestArchiveRate,LINEPROOF_E2E_ARCHIVE_RECORDS=$(RECORDS) LINEPROOF_E2E_ENFORCE=$(ENFORCE),internal/evidence/journal)

.PHONY: nation
nation: ## Load a nation of LINES lines (20000000) from pipes, apply CHANGES events, and measure
	$(call long_run,TestNation,LINEPROOF_E2E_LINES=$(LINES) LINEPROOF_E2E_CHANGES=$(CHANGES))

.PHONY: small-nation
small-nation: ## Run the small nation of `lineproof-nation` with DEMO_LINES lines (1000000): everything moves, every role logs in, it ends and goes on, and every panel of the dashboards has data
	$(call long_run,TestSmallNationMoves,LINEPROOF_E2E_NATION=$(DEMO_LINES))
	$(call long_run,TestEveryPanelHasDataOfTheSmallNation,LINEPROOF_E2E_NATION=$(DEMO_LINES),internal/testing/alerts)

.PHONY: log-latency
log-latency: ## Verify at LOG_RATE (5000) a second for LOG_SECONDS (600), without and then with a transaction that stays open, and measure how soon two witnesses have signed each answer; fails above the goals
	$(call long_run,TestAnswersAreWitnessedSoon,LINEPROOF_E2E_RATE=$(LOG_RATE) LINEPROOF_E2E_SECONDS=$(LOG_SECONDS) LINEPROOF_E2E_ENFORCE=1)

.PHONY: log-cost
log-cost: ## Verify at COST_RATE (3000) a second in turn without the public log, with it, and with a receipt for all, COST_ROUNDS (5) times 20 s each, and compare CPU and p99
	$(call long_run,TestPublicLogCost,LINEPROOF_E2E_RATE=$(COST_RATE) LINEPROOF_E2E_ROUNDS=$(COST_ROUNDS) LINEPROOF_E2E_SECONDS=20)

.PHONY: feed-latency
feed-latency: ## Measure how soon 200 banks hear of 278 changes a second, for a minute, by streams and webhooks
	$(call long_run,TestChangesReachBanksSoon,LINEPROOF_E2E_BANKS=200 LINEPROOF_E2E_SECONDS=60 LINEPROOF_E2E_ENFORCE=$(ENFORCE))

.PHONY: webhook-hang
webhook-hang: ## Measure how long 200 webhook endpoints wait for an event, in turn with and beside a tenth that hang
	$(call long_run,TestWebhookHang,LINEPROOF_E2E_SECONDS=30 LINEPROOF_E2E_ROUNDS=3 LINEPROOF_E2E_RATIO=1.5)

.PHONY: watch-list
watch-list: ## Load a watch-list of LIST (100000000) numbers, then 200 with PAIRS (300000000), and measure their size, the CPU of loading, of matching and of distributing a change
	$(call long_run,TestLargeListIsSmall,LINEPROOF_E2E_LIST=$(LIST),internal/notify/watchlist)
	$(call long_run,TestListsOfANationAreSmall,LINEPROOF_E2E_PAIRS=$(PAIRS) LINEPROOF_E2E_CHANGES=50000,internal/notify/distribute)

.PHONY: portal-load
portal-load: ## Open every page of the portal PAGES times (100) with ENTITIES (1000), KEYS (10000), ENTRIES (50000000) records and REFUSED (5000000) refused requests; ENFORCE=1 fails above 100 ms
	$(call long_run,TestPortalLoad,LINEPROOF_E2E_ENTRIES=$(ENTRIES) LINEPROOF_E2E_ENTITIES=$(ENTITIES) LINEPROOF_E2E_KEYS=$(KEYS) LINEPROOF_E2E_REFUSED=$(REFUSED) LINEPROOF_E2E_ROUNDS=$(PAGES) LINEPROOF_E2E_ENFORCE=$(ENFORCE))


$(BROWSER)/node_modules/.package-lock.json: $(BROWSER)/package-lock.json
	cd $(BROWSER) && npm ci --no-audit --no-fund
	@touch $@

.PHONY: alerts
alerts: ## Break each part of a real node under a real Prometheus, with the windows of the rules divided by 60, and see each alert fire and end. Needs prometheus, prometheus-node-exporter and the right to mount
	$(call long_run,TestAlertsFireByTheirFaults,LINEPROOF_E2E_ALERTS=1,internal/testing/alerts)

##@ Releases

.PHONY: dist
dist: bin/nfpm ## Make a release in dist: static programs, deb and rpm, bills of materials, checksums, signed if SIGNING_KEY names an SSH key
	go run -trimpath ./cmd/dist -nfpm bin/nfpm -out dist -for $(DIST_FOR) $(if $(RELEASE),-release '$(RELEASE)') $(if $(SIGNING_KEY),-sign '$(SIGNING_KEY)')

.PHONY: dist-again
dist-again: dist ## Make the release a second time, in another directory and with an empty build cache, and compare every byte
	rm -rf bin/dist-again bin/dist-cache
	GOCACHE=$(CURDIR)/bin/dist-cache go run -trimpath ./cmd/dist -nfpm bin/nfpm -out bin/dist-again -for $(DIST_FOR) $(if $(RELEASE),-release '$(RELEASE)')
	diff <(grep -v 'oci.tar$$' dist/SHA256SUMS) bin/dist-again/SHA256SUMS && echo "the same: $$(wc -l <dist/SHA256SUMS) files"
	rm -rf bin/dist-again bin/dist-cache

.PHONY: vulnerabilities
vulnerabilities: ## Ask Go's database for known vulnerabilities in what the programs call; UNCHECKED=yes goes on where it cannot be reached
	bash .ci/vulnerabilities

.PHONY: release
release: vulnerabilities ## Rehearse release VERSION, such as 0.1.0: changelog and tags allow it, and everything is built into dist, twice, with the same bytes
	$(MAKE) --no-print-directory dist-again RELEASE='$(or $(VERSION),$(error name the release: make release VERSION=0.1.0))'

.PHONY: release-test
release-test: bin/nfpm ## Rehearse a release of a clone whose changelog is cut
	$(call long_run,TestRehearsalIsTheRelease,LINEPROOF_NFPM=$(CURDIR)/bin/nfpm,cmd/dist)

.PHONY: deb-test
deb-test: ## Check the packages, and install the deb in a clean Debian with the commands of docs/how-to/install.md (needs root and debootstrap)
	$(MAKE) --no-print-directory dist DIST_FOR=$$(go env GOARCH)
	$(call long_run,TestPackagesAreComplete,LINEPROOF_DIST=$(CURDIR)/dist,cmd/dist)
	$(call long_run,TestInstallOnCleanDebian,LINEPROOF_DIST=$(CURDIR)/dist,cmd/dist)

.PHONY: chart-test
chart-test: bin/helm ## Render the Helm chart with helm and check its objects with the types and rules of Kubernetes, and the compose file with its schema
	go -C deploy/testdata/check test -mod=mod -count=1 $(if $(V),-v) ./...

.PHONY: image
image: ## Build the OCI image dist/lineproof-VERSION.oci.tar, as root, with buildah
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/image/lineproof ./cmd/lineproof
	deploy/oci/build bin/image/lineproof $(IMAGE_VERSION) $(IMAGE)

.PHONY: image-test
image-test: image bin/versitygw ## Build the image again and compare; run what it contains as a container would, as root: migrate, serve, verify, draw a document, doctor
	deploy/oci/build bin/image/lineproof $(IMAGE_VERSION) bin/image/again.oci.tar
	cmp $(IMAGE) bin/image/again.oci.tar
	$(call long_run,TestImageIsSmallAndClosed,LINEPROOF_IMAGE=$(CURDIR)/$(IMAGE),internal/testing/imagetest)
	$(call long_run,TestImageRuns,LINEPROOF_IMAGE=$(CURDIR)/$(IMAGE),internal/testing/imagetest)

bin/nfpm: tools/dist/go.mod
	CGO_ENABLED=0 go build -trimpath -modfile=tools/dist/go.mod -o $@ github.com/goreleaser/nfpm/v2/cmd/nfpm
