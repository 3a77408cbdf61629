package repository_test

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	rulesDir = "deploy/prometheus/"
	bookDir  = "docs/how-to/runbooks/"
	bookURL  = "https://" + module + "/blob/main/" + bookDir
)

// ruleFile is a file of rules as Prometheus reads it.
type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// name returns the name of a rule, by which a failure can be found.
func (r *rule) name() string { return cmp.Or(r.Alert+r.Labels["window"], r.Record) }

func rulesOf(t *testing.T, files ...string) (all []rule) {
	t.Helper()
	for _, file := range files {
		var f ruleFile
		decoder := yaml.NewDecoder(strings.NewReader(readText(t, rulesDir+file)))
		decoder.KnownFields(true)
		if err := decoder.Decode(&f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, g := range f.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// Every alert compares something, says whether it wakes a person, what is the matter, and where
// its runbook is. Among them is what warns while there is time: days before the journal has no
// partition, and days before its disk is full; and what says at once that the scanner is blind.
func TestAlertsSayWhatIsTheMatter(t *testing.T) {
	t.Parallel()

	want := map[string]string{
		"LineproofJournalRunsOut": "max(lineproof_journal_days_ahead) < 3", "LineproofJournalDiskFills": "min(lineproof_journal_disk_days_left) < 14",
		"LineproofScannerBlind": `max(lineproof_scanner_test{state="blind"}) == 1`,
	}
	seen := map[string]bool{}
	for _, r := range rulesOf(t, "alerts.rules.yml") {
		if seen[r.name()] || r.Alert == "" {
			t.Errorf("the alert %q stands twice or has no name", r.name())
		}
		seen[r.name()] = true
		if !regexp.MustCompile(`(<|>|==) [0-9]`).MatchString(r.Expr) {
			t.Errorf("%s compares nothing: %s", r.name(), r.Expr)
		}
		if s := r.Labels["severity"]; s != "page" && s != "ticket" {
			t.Errorf("%s has the severity %q", r.name(), s)
		}
		if len(r.Annotations["summary"]) < 10 {
			t.Errorf("%s does not say what is the matter", r.name())
		}
		if w, pinned := want[r.Alert]; pinned && r.Expr != w {
			t.Errorf("%s is %q, want %q", r.name(), r.Expr, w)
		}
		delete(want, r.Alert)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// The rules name only metrics that exist, and recorded figures that are recorded.
func TestRulesNameRealMetrics(t *testing.T) {
	t.Parallel()

	rules := rulesOf(t, "recording.rules.yml", "alerts.rules.yml")
	reference := readText(t, "docs/reference/metrics.md")
	histogramPart := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, r := range rules {
		for _, name := range regexp.MustCompile(`\blineproof[_:][a-z0-9_:]+`).FindAllString(r.Expr, -1) {
			recorded := slices.ContainsFunc(rules, func(other rule) bool { return other.Record == name })
			if !recorded && !strings.Contains(reference, "`"+name+"`") && !strings.Contains(reference, "`"+histogramPart.ReplaceAllString(name, "")+"` | histogram") {
				t.Errorf("%s uses %s, which is neither a metric nor recorded", r.name(), name)
			}
		}
	}
}

// Every alert has a runbook with its name and the five parts, its annotation leads there, the list
// names it, and there is no runbook without an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()

	without := map[string]bool{}
	found, err := fs.Glob(checkout, bookDir+"*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no runbooks: %v", err)
	}
	for _, page := range found {
		without[page] = filepath.Base(page) != "README.md"
	}
	list := readText(t, bookDir+"README.md")
	for _, r := range rulesOf(t, "alerts.rules.yml") {
		file, ours := strings.CutPrefix(r.Annotations["runbook_url"], bookURL)
		if _, exists := without[bookDir+file]; !ours || !exists {
			t.Errorf("%s leads to %q, which is no runbook", r.name(), r.Annotations["runbook_url"])
			continue
		}
		without[bookDir+file] = false
		page := readText(t, bookDir+file)
		for _, part := range []string{"# " + r.Alert + "\n", "\n**Who is affected.** ", "\n## Look\n", "\n## Do\n", "\n## See that it worked\n"} {
			if !strings.Contains(page, part) {
				t.Errorf("%s has no %q", file, strings.TrimSpace(part))
			}
		}
		if !strings.Contains(list, "["+r.Alert+"]("+file+")") {
			t.Errorf("the list of runbooks does not have %s", r.Alert)
		}
	}
	for page, unused := range without {
		if unused {
			t.Errorf("no alert leads to %s", page)
		}
	}
}

// promtoolTests is a file of unit tests of rules, as far as this test reads it.
type promtoolTests struct {
	Tests []struct {
		Expressions []struct {
			Expr    string `yaml:"expr"`
			Samples []any  `yaml:"exp_samples"`
		} `yaml:"promql_expr_test"`
	} `yaml:"tests"`
}

// Every alert is tried by a unit test in which it fires, and by one in which it does not; every
// window of an objective, too.
func TestEveryAlertHasUnitTests(t *testing.T) {
	t.Parallel()

	fires, silent := map[string]bool{}, map[string]bool{}
	files, err := fs.Glob(checkout, rulesDir+"*.test.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no unit tests of alerts: %v", err)
	}
	of := regexp.MustCompile(`alertname="(\w+)",alertstate="firing"(?:,window="(\w+)")?`)
	for _, file := range files {
		var tests promtoolTests
		if err := yaml.Unmarshal([]byte(readText(t, file)), &tests); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, test := range tests.Tests {
			for _, e := range test.Expressions {
				m := of.FindStringSubmatch(e.Expr)
				if m == nil {
					t.Errorf("%s: %s asks for no alert", file, e.Expr)
					continue
				}
				if len(e.Samples) > 0 {
					fires[m[1]+m[2]] = true
				} else {
					silent[m[1]+m[2]] = true
				}
			}
		}
	}
	for _, r := range rulesOf(t, "alerts.rules.yml") {
		if !fires[r.name()] || !silent[r.name()] {
			t.Errorf("%s: fires in a unit test %t, is silent in one %t", r.name(), fires[r.name()], silent[r.name()])
		}
	}
}
