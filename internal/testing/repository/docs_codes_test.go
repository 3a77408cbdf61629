package repository_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// coded is where the code has the words of an enumeration of the contract, and the page of the
// documentation that has each of them. A word with a minus is not for callers.
type coded struct{ words, page string }

const (
	statusPage, eventPage, filePage, errorPage = "line-status.md", "line-events.md", "supply-files.md", "errors.md"
	statePage, feedPage, gapsPage              = "document-states.md", "feed.md", "contract-gaps.md"
)

// enumerations are those of the contract. What is looked up in the code is a type of constants,
// a block of constants, a variable, or what a function returns.
var enumerations = map[string]coded{
	"DocumentType":                     {"regulator/document var Types +OTHER", gapsPage},
	"UploadRequest.type":               {"regulator/document var Types +OTHER", gapsPage},
	"ImportKind":                       {"line/linefile type Kind -questions", filePage},
	"Import.kind":                      {"line/linefile type Kind -questions", filePage},
	"Import.state":                     {"line/supply const Checking", filePage},
	"TokenError.error":                 {"web/httpapi func oauthError", ""},
	"KeyRequest.mode":                  {"access const Live", ""},
	"Key.mode":                         {"access const Live", ""},
	"Job.mode":                         {"access const Live", ""},
	"WatchList.mode":                   {"access const Live", ""},
	"Webhook.mode":                     {"access const Live", ""},
	"ReplacedList.mode":                {"access const Live", ""},
	"KeyRequest.rights[]":              {"access const WatchRight", ""},
	"Key.rights[]":                     {"access const WatchRight", ""},
	"Job.state":                        {"answer/filejob type State", "../how-to/verify-a-file.md"},
	"WatchList.state":                  {"notify/watchlist const Active", ""},
	"ReplacedList.state":               {"notify/watchlist const Active", ""},
	"ReplacedList.rejectedRows[].code": {"web/httpapi const badNumber", feedPage},
	"WebhookRequest.form":              {"notify/webhook type Form", ""},
	"Webhook.form":                     {"notify/webhook type Form", ""},
	"WebhookRequest.algorithm":         {"notify/webhook type Algorithm", ""},
	"Webhook.algorithm":                {"notify/webhook type Algorithm", ""},
	"Webhook.state":                    {"notify/webhook type State", ""},
	"Webhook.reason":                   {"notify/webhook const ReasonGone", ""},
	"WebhookAttempt.kind":              {"notify/webhook type Kind", ""},
	"Requirement.state":                {"regulator/document const RequirementMissing", statePage},
	"Document.state":                   {"regulator/document type State", statePage},
	"ReviewRequest.decision":           {"regulator/document type State -received -scanning -clean -refused -infected -deleted", statePage},
	"Document.mediaType":               {"regulator/document var acceptedTypes", ""},
	"DocumentMove.by":                  {"web/httpapi const byUploader", ""},
	"InviteRequest.kind":               {"regulator/registry type AccountKind", ""},
	"AccountInfo.kind":                 {"regulator/registry type AccountKind", ""},
	"InviteRequest.role":               {"access type Role", ""},
	"AccountInfo.state":                {"web/httpapi func accountOf", ""},
	"VerifyRequest.include[]":          {"web/httpapi func options.check", gapsPage},
	"VerifyBatchRequest.include[]":     {"web/httpapi func options.check", gapsPage},
	"Verification.status":              {"line type Status -NEW", statusPage},
	"Verification.statusReason":        {"line type Reason", statusPage},
	"History.statusReason":             {"line type Reason", statusPage},
	"Verification.changedSince":        {"line const Yes", gapsPage},
	"Verification.changes[]":           {"line type Change", gapsPage},
	"LineDate.precision":               {"answer/verify type Precision", statusPage},
	"AnswerEventData.differs[]":        {"answer/verify func Said.parts", feedPage},
	"TopicCoverage.topic":              {"line var topicWords", statusPage},
	"TopicStanding.topic":              {"line var topicWords", statusPage},
	"Signal.source":                    {"line func Authority.String", gapsPage},
	"Conflict.source":                  {"line func Authority.String", gapsPage},
	"HistoryEvent.source":              {"line func Authority.String", gapsPage},
	"Signal.level":                     {"line var codeWords -NIN -FRAUD -COURT -LOST -DEBT -OTHER -CHURNED -SURRENDERED -INFERRED", gapsPage},
	"LineEventRequest.level":           {"line var codeWords -NIN -FRAUD -COURT -LOST -DEBT -OTHER -CHURNED -SURRENDERED -INFERRED", gapsPage},
	"LineEventRequest.reason":          {"line var codeWords -INFERRED -MEDIUM -HIGH -VERY_HIGH", ""},
	"OrderRequest.reason":              {"line var codeWords -CHURNED -SURRENDERED -INFERRED -MEDIUM -HIGH -VERY_HIGH", ""},
	"LineEventRequest.type":            {"line var kindWords -BLACKLISTED -RELEASED -CONFIRMED -RESTATED", eventPage},
	"Tenure.state":                     {"line var stateWords -NONE -QUARANTINED -BARRED +ENDED", ""},
	"Tenure.endReason":                 {"line var codeWords -NIN -COURT -LOST -DEBT -MEDIUM -HIGH -VERY_HIGH", ""},
	"EventsReceipt.doubtful[]":         {"line var topicWords", statusPage},
	"Import.sender":                    {"line func Authority.String", ""},
	"Budgets.mode":                     {"access const Live", ""},
	"Budgets.restriction":              {"web/httpapi func restrictionOf", ""},
	"Budgets.rateScope":                {"web/httpapi func API.ratesOf", ""},
	"EventResult.result":               {"line/supply const Applied", ""},
	"HistoryEvent.result":              {"line/supply const Applied -DUPLICATE -REFUSED", ""},
	"Conflict.result":                  {"line/supply const Applied -DUPLICATE -REFUSED -APPLIED -NO_EFFECT", ""},
	"HistoryEvent.held":                {"line var holdWords", ""},
	"OrderRequest.action":              {"line/order var orderKinds", gapsPage},
	"Order.action":                     {"line/order var orderKinds", ""},
	"Order.state":                      {"line/order const Pending -WITHDRAWN -LAPSED", gapsPage},
	"Problem.code":                     {"values/fault type Code", errorPage},
	"Violation.code":                   {"values/fault const Required", errorPage},
	"Event.type":                       {"", ""},
	"EndpointOwnEvent.type":            {"", ""}, // see TestTheContractHasEveryEventType
	"LineEventRequest.scope":           {"", ""},
	"OrderRequest.scope":               {"", ""}, // compared with literals
	"RateLeft.name":                    {"", ""},
	"BudgetLeft.name":                  {"", ""}, // see TestBudgetsFollowTheRequests
	"DryRunList":                       {"", ""},
	"ImportDryRun":                     {"", ""},
	"AccelBuffering":                   {"", ""},
	"Event.specversion":                {"", ""},
	"Event.datacontenttype":            {"", ""},
	"EndpointOwnEvent.specversion":     {"", ""},
	"EndpointOwnEvent.datacontenttype": {"", ""}, // forms
}

// Every enumeration of the contract has the words of the code and no other, and its page has each
// of them.
func TestEnumerationsAreTheWordsOfTheCode(t *testing.T) {
	t.Parallel()

	compared, unused := 0, maps.Clone(enumerations)
	for name, listed := range enumerationsOf(contractDocument(t)) {
		e, known := enumerations[name]
		if delete(unused, name); !known {
			t.Errorf("the contract enumerates %s; say here where the code has its words", name)
		}
		if e.words == "" {
			continue
		}
		want := wordsOfCode(t, e.words)
		slices.Sort(listed)
		if compared += len(want); !slices.Equal(want, listed) {
			t.Errorf("%s (-code +contract):\n%s", name, cmp.Diff(want, listed))
		}
		if e.page == "" {
			continue
		}
		page := readText(t, path.Join("docs/reference", e.page))
		for _, word := range want {
			if !strings.Contains(page, "`"+word+"`") {
				t.Errorf("docs/reference/%s has no `%s` of %s", e.page, word, name)
			}
		}
	}
	if len(unused) > 0 || compared < 200 {
		t.Errorf("%d words are compared; the contract does not enumerate %v", compared, slices.Sorted(maps.Keys(unused)))
	}
}

// enumerationsOf returns the words of every enumeration of a document, by its place.
func enumerationsOf(doc *openapi3.T) map[string][]string {
	all := map[string][]string{}
	var visit func(name string, s *openapi3.Schema)
	visit = func(name string, s *openapi3.Schema) {
		values := s.Enum
		if open, _ := s.Extensions["x-extensible-enum"].([]any); len(open) > 0 {
			values = open
		}
		for _, v := range values {
			if v != nil {
				all[name] = append(all[name], fmt.Sprint(v))
			}
		}
		for property, p := range s.Properties {
			if p.Ref == "" {
				visit(name+"."+property, p.Value)
			}
		}
		if s.Items != nil && s.Items.Ref == "" {
			visit(name+"[]", s.Items.Value)
		}
	}
	for name, s := range doc.Components.Schemas {
		visit(name, s.Value)
	}
	for name, p := range doc.Components.Parameters {
		visit(name, p.Value.Schema.Value)
	}
	for name, h := range doc.Components.Headers {
		visit(name, h.Value.Schema.Value)
	}
	return all
}

// wordsOfCode returns the words that a place has, such as the constants of a type, sorted.
func wordsOfCode(t *testing.T, place string) []string {
	t.Helper()
	parts := strings.Fields(place)
	var words []string
	for _, f := range sources(t) {
		if path.Dir(f.path) != "internal/"+parts[0] {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			words = append(words, wordsOfDeclaration(d, parts[1], parts[2])...)
		}
	}
	for _, change := range parts[3:] {
		if word, more := strings.CutPrefix(change, "+"); more {
			words = append(words, word)
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == strings.TrimPrefix(change, "-") && change[0] == '-' })
	}
	slices.Sort(words)
	if words = slices.Compact(words); len(words) == 0 {
		t.Errorf("nothing is found at %s", place)
	}
	return words
}

func wordsOfDeclaration(d ast.Decl, kind, name string) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		called := d.Name.Name
		if d.Recv != nil {
			on := d.Recv.List[0].Type
			if star, ok := on.(*ast.StarExpr); ok {
				on = star.X
			}
			called = fmt.Sprint(on) + "." + called
		}
		if kind == "func" && called == name {
			return literals(d.Body, true)
		}
	case *ast.GenDecl:
		var words []string
		for _, s := range d.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			first, _ := d.Specs[0].(*ast.ValueSpec)
			of, _ := v.Type.(*ast.Ident)
			switch {
			case kind == "type" && of != nil && of.Name == name,
				kind == "var" && v.Names[0].Name == name,
				kind == "const" && first.Names[0].Name == name:
				for _, value := range v.Values {
					words = append(words, literals(value, false)...)
				}
			}
		}
		return words
	}
	return nil
}

var word = regexp.MustCompile(`^[A-Za-z0-9_/.+-]+$`)

// literals returns the words in quotes within a node: of a function those that it returns, sets
// or compares in a case.
func literals(n ast.Node, ofFunction bool) (words []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && ofFunction && fmt.Sprint(call.Fun) != "append" {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, _ := strconv.Unquote(lit.Value); word.MatchString(text) {
				words = append(words, text)
			}
		}
		return true
	})
	return words
}

var (
	code = regexp.MustCompile(`^[A-Z]{2,}(_[A-Z0-9]+)*$`)
	// What a caller reads: not how the service was built and measured.
	callersPage = regexp.MustCompile(`^(api/|docs/(how-to|tutorial|reference/[^m])|docs/explanation/[^e])`)
	quotedCode  = regexp.MustCompile("`([A-Z]{3,}(?:_[A-Z0-9]+)*)`")
)

// unsent are words in capitals in the packages whose words reach callers that no caller is sent.
var unsent = map[string]string{
	"NEW":          "a status that is none",
	"NONE":         "likewise a state",
	"WITHDRAWN":    "of an order in the portal",
	"LAPSED":       "likewise",
	"RELEASED":     "an order as an event, which nobody reports",
	"PORT_UNKNOWN": "such a row waits, and is not rejected",
	"HARMATTAN":    "a network of test numbers",
	"SAVANNA":      "likewise",
	"MUTE":         "likewise",
	"SILENT":       "likewise",
	"ORC":          "the first bytes of a file of another kind",
}

// codesOf returns the words in capitals that the code of some folders has, and where.
func codesOf(t *testing.T, under ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range sources(t) {
		within := func(dir string) bool { return strings.HasPrefix(f.path, "internal/"+dir) }
		if !slices.ContainsFunc(under, within) || !strings.HasSuffix(f.path, ".go") || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range literals(file, false) {
			if code.MatchString(w) {
				all[w] = f.path
			}
		}
	}
	return all
}

// Every code in the packages whose words reach callers is in the contract.
func TestCodesOfTheCodeAreInTheContract(t *testing.T) {
	t.Parallel()

	contract := readText(t, "api/openapi.yaml") + readText(t, "docs/reference/supply-files.md") // for rows
	for w, at := range codesOf(t, "line/", "answer/verify", "answer/impact", "notify/", "values/fault", "web/httpapi") {
		if !regexp.MustCompile(`\b`+w+`\b`).MatchString(contract) && unsent[w] == "" {
			t.Errorf("%s of %s is not in the contract", w, at)
		}
	}
}

// foreign are words in capitals of pages that others have made.
var foreign = []string{
	"GET", "POST", "DELETE", "PATH", "TMPDIR", "SSL_CERT_FILE", "CODEOWNERS",
	"NOTIFY", "UPDATE", "TRUNCATE", "CREATEROLE", "ERROR", "PATRONI_POSTGRESQL_DATA_DIR",
}

// Every code that the contract, the reference, a how-to page or an explanation names is one of the code.
func TestCodesOfPagesAreInTheCode(t *testing.T) {
	t.Parallel()

	known, settings, seen := codesOf(t, ""), readText(t, "docs/reference/configuration.md"), 0
	texts := pages(t)
	texts["api/openapi.yaml"] = readText(t, "api/openapi.yaml")
	for page, text := range texts {
		if !callersPage.MatchString(page) {
			continue
		}
		for _, m := range quotedCode.FindAllStringSubmatch(text, -1) {
			isSetting := strings.HasPrefix(m[1], "LINEPROOF_") && strings.Contains(settings, "`"+m[1]+"`")
			if seen++; known[m[1]] == "" && !isSetting && !slices.Contains(foreign, m[1]) {
				t.Errorf("%s names %s, which the code does not have", page, m[1])
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d codes were looked up", seen)
	}
}

// The description of an import names every column that a file of lines or events may have.
func TestColumnsOfFilesAreInTheContract(t *testing.T) {
	t.Parallel()

	described := contractDocument(t).Paths.Value("/api/v1/lines/imports").Post.Description
	for _, column := range wordsOfCode(t, "line/linefile const colNumber -externalId -since") {
		if !strings.Contains(described, "`"+column+"`") {
			t.Errorf("the contract does not name the column %s", column)
		}
	}
}
