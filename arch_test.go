// Package lineproof_test holds the tests of the module as a whole: the plan of
// its packages and the list of its dependencies.
package lineproof_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lineproof/lineproof"

// layer says how far from the outside a package stands. Production code
// imports downwards; see docs/explanation/layers.md for the picture.
type layer int

const (
	values         layer = iota // values and rules; no outside world
	infrastructure              // the outside world; no table, no route
	domain                      // what the service means; each package owns its tables and its SQL
	transports                  // how callers get in
	assembly                    // puts everything together
	proofs                      // tests of the whole, and what makes a release; the program has none of it
)

// part is one package: its layer, the packages of this module that it may
// import, and the tables that it alone may write. Which tables of other packages
// it may read is in mayRead.
type part struct {
	layer               layer
	pkg, mayImport, own string
}

// plan is the plan of the packages. A package that is not on it may not exist.
// A row names only packages that stand above it in this list, so that the list
// can be read from top to bottom and there is no way back.
//
// A name is the path inside the module, without "internal/".
var plan = []part{
	{values, "fault", "", ""},
	{values, "phone", "fault", ""},
	{values, "secret", "fault", ""},
	{values, "hooksign", "secret", ""},
	{values, "cac", "fault", ""},
	{values, "keyright", "fault", ""},
	{values, "bloom", "", ""},
	{values, "merkle", "", ""},
	{values, "logentry", "merkle", ""},
	{values, "logtile", "merkle", ""},
	{values, "checkpoint", "", ""},
	{values, "logkey", "checkpoint", ""},
	{values, "testing/logtest", "logkey", ""},
	{values, "numberreport", "", ""},
	{values, "sketch", "", ""},
	{values, "csvfile", "", ""},
	{values, "config", "phone secret", ""},
	{values, "api", "", ""},
	{values, "docs", "", ""},
	{values, "receipt", "checkpoint logentry", ""},
	{values, "dashboard", "", ""},

	{infrastructure, "pause", "", ""},
	{infrastructure, "pg", "fault pause secret", ""},
	{infrastructure, "blob", "", ""},
	{infrastructure, "statefile", "", ""},
	{infrastructure, "clamd", "", ""},
	{infrastructure, "testing/process", "", ""},
	{infrastructure, "testing/clamtest", "testing/process", ""},
	{infrastructure, "confined", "", ""},
	{infrastructure, "inspect", "confined", ""},
	{infrastructure, "pageimage", "confined", ""},
	{infrastructure, "priority", "", ""},
	{infrastructure, "hashing", "priority secret", ""},
	{infrastructure, "testing/corpus", "", ""},
	{infrastructure, "telemetry", "", ""},
	{infrastructure, "limit", "", ""},
	{infrastructure, "span", "", ""},
	{infrastructure, "turns", "pause", ""},
	{infrastructure, "mail", "secret", ""},
	{infrastructure, "egress", "", ""},
	{infrastructure, "testing/pgtest", "pg secret testing/process", ""},
	{infrastructure, "testing/mailtest", "", ""},
	{infrastructure, "testing/redistest", "testing/process", ""},
	{infrastructure, "testing/patronitest", "testing/process", ""},
	{infrastructure, "testing/s3test", "testing/process", ""},
	{infrastructure, "testing/together", "", ""},

	{domain, "audit", "fault pg", "audit"},
	{domain, "rowmac", "audit fault pg secret", ""},
	{domain, "auditchain", "pg", "audit_hour"},
	{domain, "peppercheck", "pg secret", "pepper_check"},
	{domain, "nodes", "pause pg", "running_node"},
	{domain, "approval", "audit fault pg", "approval break_glass"},
	{domain, "idempotency", "fault pg secret", "idempotency"},
	{domain, "message", "pg", "message message_mute"},
	{domain, "requestlog", "fault pause pg phone secret", "refused_request"},
	{domain, "registry", "approval audit cac fault pg phone secret", "entity account access_given"},
	{domain, "policy", "approval audit fault pg registry", "policy"},
	{domain, "entitylimit", "approval audit fault pg registry", "entity_limit"},
	{domain, "access", "approval audit entitylimit fault keyright pg policy registry secret", "client client_secret access_token session api_key mandate access_channel"},
	{domain, "people", "access approval audit fault mail message pg registry secret", "login_trouble login_device second_factor recovery_code account_link"},
	{domain, "document", "audit blob clamd fault inspect pg pageimage", "document document_move"},
	{domain, "numbering", "approval audit fault pg phone registry", "network numbering_plan numbering_network numbering_range numbering_draft"},
	{domain, "line", "numbering phone policy", ""},
	{domain, "linestore", "line numbering pg phone policy", "line_now line_event line_open network_lines supply_coverage supply_coverage_history"},
	{domain, "share", "line linestore numbering pg policy", "supply_share supply_announced"},
	{domain, "testing/linemodel", "line numbering", ""},
	{domain, "outbox", "line numbering pg phone policy", "line_change line_timer line_seal outbox_mark sealed_change"},
	{domain, "seal", "approval audit fault outbox pg phone registry", ""},
	{domain, "linechange", "line numbering phone policy", ""},
	{domain, "linefile", "fault line numbering phone", ""},
	{domain, "testing/brokenfile", "line linefile", ""},
	{domain, "filerows", "csvfile line linefile pg phone", "supply_refused supply_refused_value supply_example"},
	{domain, "supply", "audit blob fault filerows line linechange linefile linestore numbering outbox pause pg phone policy secret share span turns", "supplier supply_day supply_reach supply_import"},
	{domain, "order", "approval audit fault line pg phone registry share supply", "line_order"},
	{domain, "record", "", ""},
	{domain, "testing/journaltest", "record", ""},
	{domain, "testing/receipttest", "receipt record", ""},
	{domain, "archivefile", "blob bloom merkle record", ""},
	{domain, "journalslice", "archivefile blob bloom merkle record", ""},
	{domain, "journalepoch", "audit pg", "journal_epoch_start journal_epoch_end journal_epoch_skip"},
	{domain, "returned", "pg receipt record", "journal_returned"},
	{domain, "journal", "archivefile audit blob bloom fault journalepoch journalslice merkle pause pg record returned", "journal_entry journal_batch journal_fence journal_archive journal_archive_run journal_erased journal_erased_day journal_rewrite journal_replaced journal_checked"},
	{domain, "staffaccess", "audit fault pg record", ""},
	{domain, "journalgap", "journal journalepoch journalslice pg", ""},
	{domain, "publiclog", "archivefile blob checkpoint fault journal logentry logkey logtile merkle pg receipt", "log_entry log_head log_checkpoint log_published log_pending log_key"},
	{domain, "witness", "checkpoint logkey receipt statefile", ""},
	{domain, "monitor", "checkpoint logentry logtile merkle receipt statefile", ""},
	{domain, "accept", "audit blob fault journal pg publiclog receipt record returned", ""},
	{domain, "logreceipt", "archivefile blob checkpoint fault journal logentry merkle publiclog receipt record returned", ""},
	{domain, "promise", "journal logentry logkey receipt", ""},
	{domain, "feed", "fault pause pg phone", "feed_epoch feed_head feed_entry"},
	{domain, "feedarchive", "blob fault feed pg", "feed_segment"},
	{domain, "erasure", "approval audit blob fault feedarchive journal outbox pg record registry", "erasure legal_hold"},
	{domain, "whoasked", "approval audit blob csvfile fault journal pg phone record registry", "who_asked"},
	{domain, "sandbox", "fault line linestore numbering pg phone policy", "rehearsal_clock"},
	{domain, "verify", "blob fault journal line linestore numbering pg phone policy promise record sandbox span supply", ""},
	{domain, "entered", "pg sketch", "guard_entered"},
	{domain, "guard", "approval audit entered fault numberreport pg phone policy registry sketch", "usage_day guard_alert guard_seen guard_key guard_year"},
	{domain, "restriction", "guard pg", ""},
	{domain, "filejob", "audit blob fault guard journal journalepoch linefile pause pg phone record sandbox turns verify", "file_job file_job_chunk"},
	{domain, "impact", "audit blob feed line linestore outbox pause pg phone policy verify", "impact_notice"},
	{domain, "webhook", "audit egress fault feed hooksign pause pg secret span", "hook_endpoint hook_cursor hook_attempt hook_dead"},
	{domain, "watchlist", "approval audit fault feed guard line linestore outbox pg phone registry", "watch_list watch_block"},
	{domain, "distribute", "audit feed line linestore numbering outbox pg phone policy sandbox span watchlist", "class_told"},
	{domain, "tally", "fault journal pause pg record staffaccess", "journal_minute journal_day tally_mark usage_pace usage_key"},

	{transports, "static", "", ""},
	{transports, "apidocs", "api static", ""},
	{transports, "logfiles", "blob fault logtile publiclog", ""},
	{transports, "web", "document fault pg telemetry", ""},
	{transports, "httpapi/bankapi", "distribute fault feed filejob hooksign impact keyright linefile pg phone sandbox watchlist web webhook", ""},
	{transports, "httpapi", "access approval audit document fault guard httpapi/bankapi idempotency journal keyright limit line linefile logfiles logreceipt numbering order people pg phone record registry requestlog sandbox secret supply telemetry verify watchlist web webhook", ""},
	{transports, "portal/view", "receipt", ""},
	{transports, "guide", "docs portal/view static web", ""},
	{transports, "portal/view/orgview", "portal/view", ""},
	{transports, "portal/view/trailview", "portal/view", ""},
	{transports, "portal/view/deskview", "portal/view portal/view/orgview portal/view/trailview", ""},
	{transports, "portal/view/lineview", "portal/view portal/view/orgview", ""},
	{transports, "portal/view/consoleview", "portal/view portal/view/orgview", ""},
	{transports, "portal", "access audit csvfile fault limit message people pg portal/view registry secret telemetry web", ""},
	{transports, "portal/present", "access audit document fault filerows journal line linefile numbering order people policy portal portal/view portal/view/orgview record registry supply tally web", ""},
	{transports, "portal/files", "fault filejob keyright portal portal/view portal/view/orgview web", ""},
	{transports, "portal/org", "access audit document fault feed guard hooksign journal keyright line logreceipt people pg phone portal portal/present portal/view portal/view/orgview receipt record registry restriction sandbox secret tally web webhook", ""},
	{transports, "portal/console", "access document fault feed impact phone portal portal/present portal/view portal/view/consoleview requestlog secret supply tally watchlist web webhook", ""},
	{transports, "portal/telco", "access fault line linefile logreceipt numbering portal portal/present portal/view portal/view/orgview supply web", ""},
	{transports, "portal/desk", "access approval audit document entitylimit erasure fault guard impact journal line numbering order people pg phone policy portal portal/present portal/view portal/view/deskview portal/view/orgview portal/view/trailview record registry restriction seal staffaccess supply tally watchlist web whoasked", ""},
	{transports, "portal/linedesk", "approval audit fault line linechange numbering order phone policy portal portal/present portal/view portal/view/lineview supply web whoasked", ""},
	{transports, "jobs", "access approval audit auditchain clamd document filerows idempotency impact journal journalgap mail message order outbox people pg requestlog rowmac supply tally whoasked", ""},
	{transports, "client", "", ""},

	{assembly, "server", "access apidocs approval blob clamd config distribute document egress erasure feed filejob guard guide hashing httpapi httpapi/bankapi idempotency impact inspect jobs journal journalepoch limit line linestore logentry logfiles logkey logreceipt mail message nodes numbering order outbox people peppercheck pg phone policy portal portal/console portal/desk portal/files portal/linedesk portal/org portal/present portal/telco promise publiclog receipt record registry requestlog restriction sandbox seal secret supply tally telemetry verify watchlist web webhook whoasked", ""},
	{assembly, "cli/console", "approval client config fault pg secret", ""},
	{assembly, "cli/backend", "access blob cli/console config document line linestore people peppercheck pg phone registry secret server supply", ""},
	{assembly, "cli/remote", "cli/console client config secret statefile telemetry", ""},
	{assembly, "cli/doctor", "access blob clamd cli/backend cli/console config journal nodes peppercheck pg rowmac secret server", ""},
	{assembly, "cli/receipts", "cli/console logkey monitor receipt witness", ""},
	{assembly, "cli/trail", "auditchain blob cli/backend cli/console cli/receipts feed journalepoch logentry logkey publiclog server webhook", ""},
	{assembly, "cli/lines", "access approval audit cli/backend cli/console impact line linefile linestore numbering order outbox pg seal supply verify", ""},
	{assembly, "cli/rows", "access cli/backend cli/console rowmac", ""},
	{assembly, "cli/schema", "cli/backend cli/console config journal pg", ""},
	{assembly, "cli/feeds", "cli/backend cli/console feedarchive server", ""},
	{assembly, "cli/limits", "access cli/backend cli/console guard watchlist", ""},
	{assembly, "cli/standin", "", ""},
	{assembly, "cli/nation", "cli/console cli/standin client config fault line linefile numbering pause receipt", ""},
	{assembly, "cli/demo", "access cli/backend cli/console cli/nation config fault line linefile linestore numbering pg registry secret supply", ""},
	{assembly, "cli", "accept access approval archivefile audit blob cli/backend cli/console cli/demo cli/doctor cli/feeds cli/limits cli/lines cli/receipts cli/remote cli/rows cli/schema cli/trail config document erasure fault feedarchive journal journalgap linestore numbering order people pg phone policy publiclog receipt record registry secret server staffaccess telemetry verify whoasked", ""},
	{assembly, "cmd/lineproof", "cli hashing inspect priority pageimage", ""},

	{proofs, "testing/scenario", "", ""},
	{proofs, "testing/e2e", "client config hashing inspect logtile pg priority publiclog receipt testing/clamtest testing/corpus testing/logtest testing/patronitest testing/pgtest testing/process testing/redistest testing/s3test", ""},
	{proofs, "testing/imagetest", "pause testing/corpus testing/pgtest testing/process testing/s3test", ""},
	{proofs, "testing/tampering", "", ""},
	{proofs, "testing/alerts", "", ""},
	{proofs, "dist", "cli cli/console", ""},
	{proofs, "cmd/dist", "dist", ""},
	{proofs, "cmd/bench", "access audit line numbering pg phone registry secret testing/pgtest testing/redistest", ""},
}

func planned(pkg string) (part, bool) {
	i := slices.IndexFunc(plan, func(p part) bool { return p.pkg == pkg })
	if i < 0 {
		return part{}, false
	}
	return plan[i], true
}

// owners maps each table on the plan to the package that may write it.
func owners() map[string]string {
	tables := map[string]string{}
	for _, p := range plan {
		for table := range strings.FieldsSeq(p.own) {
			tables[table] = p.pkg
		}
	}
	return tables
}

// inPlan turns an import path into a name of the plan; ok is false for paths
// outside the module. What sqlc makes belongs to the package around it, and the
// compiler keeps every other package out of it.
func inPlan(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, module+"/")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "internal/"), "/internal/")
	return name, ok
}

// The plan itself keeps its promise: a row imports only what stands above it,
// from its own layer or a lower one, and a table has one owner.
func TestPlanGoesDownwards(t *testing.T) {
	t.Parallel()

	seen := map[string]layer{}
	owner := map[string]string{}
	for _, p := range plan {
		for dep := range strings.FieldsSeq(p.mayImport) {
			if l, ok := seen[dep]; !ok || l > p.layer {
				t.Errorf("the plan lets %s import %s, which does not stand above it in the list", p.pkg, dep)
			}
		}
		for table := range strings.FieldsSeq(p.own) {
			if first, taken := owner[table]; taken {
				t.Errorf("table %s has two owners, %s and %s", table, first, p.pkg)
			}
			owner[table] = p.pkg
		}
		seen[p.pkg] = p.layer
	}
}

// Every package is on the plan, every row of the plan is a package, and
// packages import only what their row allows. Tests may import their own layer
// and what is below it, so that they can use the real parts.
func TestImportsFollowThePlan(t *testing.T) {
	t.Parallel()

	report(t, badImports(listPackages(t)))
}

func badImports(packages []listed) (violations []string) {
	add := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	exists := map[string]bool{}
	for _, pkg := range packages {
		p, ok := planned(pkg.name)
		if !ok {
			add("package %s is not on the plan", pkg.name)
			continue
		}
		exists[p.pkg] = true
		for _, dep := range pkg.imports {
			if !slices.Contains(strings.Fields(p.mayImport), dep) {
				add("package %s imports %s, which the plan does not allow", p.pkg, dep)
			}
		}
		for _, dep := range pkg.testImports {
			if d, ok := planned(dep); !ok || d.layer > p.layer {
				add("the tests of package %s import %s, which is in a higher layer", p.pkg, dep)
			}
		}
	}
	for _, p := range plan {
		if !exists[p.pkg] {
			add("package %s is on the plan and does not exist", p.pkg)
		}
	}
	return violations
}

// report fails the test with each violation.
func report(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// listed is a package as the go command sees it, with the packages of this
// module that it imports.
type listed struct {
	name                 string
	imports, testImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	const format = `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	var all []listed
	for line := range strings.Lines(goList(t, "-f", format, "./...")) {
		columns := strings.Split(line, "|")
		name, inside := inPlan(columns[0])
		if !inside {
			continue // the package of this file
		}
		ours := func(paths string) []string {
			var deps []string
			for path := range strings.FieldsSeq(paths) {
				if dep, ok := inPlan(path); ok && dep != name {
					deps = append(deps, dep)
				}
			}
			return deps
		}
		all = append(all, listed{name, ours(columns[1]), ours(columns[2])})
	}
	return all
}

// goList runs go list and fails the test with what the command complained of.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.String())
	}
	return string(out)
}

var creates = regexp.MustCompile(`(?im)^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?([a-z_]+)\s*\(`)

// Every table that the migrations make has an owner, and every table on the
// plan is made.
func TestEveryTableHasAnOwner(t *testing.T) {
	t.Parallel()

	tables := owners()
	made := map[string]bool{}
	eachFile(t, func(path string, text []byte) {
		if !strings.Contains(path, "/migrations/") {
			return
		}
		for _, m := range creates.FindAllSubmatch(text, -1) {
			table := strings.ToLower(string(m[1]))
			made[table] = true
			if tables[table] == "" {
				t.Errorf("%s makes table %s, which no package on the plan owns", path, table)
			}
		}
	})
	for table, owner := range tables {
		if !made[table] {
			t.Errorf("the plan gives table %s to %s, and no migration makes it", table, owner)
		}
	}
}

// A file that is longer has more than one subject. Split it by subject.
const (
	maxLines     = 400
	maxTestLines = 500
)

// Files stay short enough to be read in one sitting.
func TestFilesAreShort(t *testing.T) {
	t.Parallel()

	eachFile(t, func(path string, text []byte) {
		limit := maxLines
		if strings.HasSuffix(path, "_test.go") {
			limit = maxTestLines
		}
		if n := bytes.Count(text, []byte("\n")); n > limit {
			t.Errorf("%s has %d lines, more than %d", path, n, limit)
		}
	})
}

// A package that is larger has more than one subject. Those that may be larger
// than most are collections: of commands, of pages, of operations, of formats.
const (
	maxPackageLines = 2_500
	maxLargeLines   = 5_000
	maxPortalFiles  = 25
)

var largePackages = []string{"cli", "client", "portal/desk", "httpapi", "supply", "inspect", "cmd/bench"}

// Packages stay small enough to be known by one person. Tests and packages that
// only tests use do not count; the templates of pages do.
func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()

	lines, files := map[string]int{}, map[string]int{}
	eachFile(t, func(path string, text []byte) {
		if pkg := packageOf(path); !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(pkg, "testing/") && !strings.Contains(path, "/migrations/") {
			lines[pkg] += bytes.Count(text, []byte("\n"))
			files[pkg]++
		}
	})
	for pkg, n := range lines {
		limit := maxPackageLines
		if slices.Contains(largePackages, pkg) {
			limit = maxLargeLines
		}
		if n > limit {
			t.Errorf("package %s has %d lines, more than %d", pkg, n, limit)
		}
	}
	if n := files["portal"]; n > maxPortalFiles {
		t.Errorf("package portal has %d files, more than %d", n, maxPortalFiles)
	}
}

// eachFile calls fn for every Go, SQL and templ file of the module that people write.
func eachFile(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "tools"):
			return filepath.SkipDir
		case d.IsDir(), path == "schema.sql", !slices.Contains([]string{".go", ".sql", ".templ"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && !bytes.HasPrefix(text, []byte("// Code generated")) {
			fn(filepath.ToSlash(path), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
