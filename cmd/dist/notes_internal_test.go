package main

import (
	"strings"
	"testing"
)

// A release has notes, and nothing that is new is left out of them.
func TestNotesAreTheNewestSectionOfTheChangelog(t *testing.T) {
	t.Parallel()
	const good = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A [link](x).\n\n## [0.1.0] - 2026-11-20\n\nFirst.\n\n[0.1.0]: x\n"
	if notes, err := Notes(good, "0.2.0"); err != nil || notes != "### Added\n\n- A [link](x)." {
		t.Errorf("the notes are %q, %v", notes, err)
	}
	only := "## [Unreleased]\n\n## [0.1.0] - 2026-11-20\n\nFirst.\n\n[0.1.0]: x\n"
	if notes, err := Notes(only, "0.1.0"); err != nil || notes != "First." {
		t.Errorf("the notes of the first release are %q, %v", notes, err)
	}
	for name, c := range map[string]struct{ old, new, version, problem string }{
		"an older version":       {"", "", "0.1.0", "the newest version"},
		"a version without date": {" - 2026-12-01", "", "0.2.0", "no date"},
		"something not moved":    {"## [Unreleased]\n", "## [Unreleased]\n\n- New.\n", "0.2.0", "not empty"},
		"no section Unreleased":  {"## [Unreleased]\n\n", "", "0.2.0", "must begin"},
		"nothing to say":         {"### Added\n\n- A [link](x).\n", "", "0.2.0", "says nothing"},
	} {
		if _, err := Notes(strings.Replace(good, c.old, c.new, 1), c.version); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
}
