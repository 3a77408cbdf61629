package lineproof_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// ruleFile is a file of rules as Prometheus reads it.
type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Annotations map[string]string `yaml:"annotations"`
}

// rulesOf reads the rules that a page shows.
func rulesOf(t *testing.T, page string) map[string]rule {
	t.Helper()
	found := map[string]rule{}
	for _, b := range blocksOf(readText(t, page)) {
		if b.kind != "yaml" {
			continue
		}
		var file ruleFile
		decoder := yaml.NewDecoder(strings.NewReader(b.text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&file); err != nil {
			t.Fatalf("%s:%d: %v", page, b.line, err)
		}
		for _, g := range file.Groups {
			if g.Name == "" || len(g.Rules) == 0 {
				t.Errorf("%s:%d: a group without a name or without rules", page, b.line)
			}
			for _, r := range g.Rules {
				if _, twice := found[r.Alert]; twice || r.Alert == "" {
					t.Errorf("%s:%d: the alert %q stands twice or has no name", page, b.line, r.Alert)
				}
				found[r.Alert] = r
			}
		}
	}
	return found
}

// The rules for alerts can be put into a file as they stand: they are the YAML
// that Prometheus reads, each compares something, says for how long, and tells
// whoever is woken what to do. Among them is what warns while there is time: days before the journal
// has no partition, and days before its disk is full; and what tells at once that
// the scanner is blind.
func TestAlertsCanBeUsedAsTheyStand(t *testing.T) {
	t.Parallel()

	rules := rulesOf(t, "docs/how-to/observe.md")
	for name, r := range rules {
		if strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") || !regexp.MustCompile(`(<|>|==) [0-9]`).MatchString(r.Expr) {
			t.Errorf("%s compares nothing: %s", name, r.Expr)
		}
		if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
			t.Errorf("%s waits for %q", name, r.For)
		}
		if len(r.Annotations["summary"]) < 10 {
			t.Errorf("%s does not say what is the matter", name)
		}
	}
	for name, want := range map[string]string{
		"LineproofJournalRunsOut": "max(lineproof_journal_days_ahead) < 3", "LineproofJournalDiskFills": "min(lineproof_journal_disk_days_left) < 14",
		"LineproofScannerBlind": `max(lineproof_scanner_test{state="blind"}) == 1`,
	} {
		if got := rules[name].Expr; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
