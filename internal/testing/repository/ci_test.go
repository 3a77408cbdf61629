package repository_test

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const checksPage = "docs/reference/checks.md"

// byHand are the long runs that neither CI nor the nightly starts, with the
// reason.
var byHand = map[string]string{
	"bench": "it compares CPU times, which needs a machine that does nothing else",
}

// No proof disappears: every long run of the Makefile is started by CI or by the
// nightly, and docs/reference/checks.md says where.
func TestEveryProofRunsSomewhere(t *testing.T) {
	t.Parallel()

	report(t, lostProofs(readText(t, "Makefile"), readText(t, ".ci/run")+readText(t, ".ci/nightly"), readText(t, checksPage)))
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z0-9-]+):[^\n]*\n((?:\t[^\n]*\n)+)`)

func lostProofs(makefile, scripts, checks string) (violations []string) {
	for _, m := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		target, recipe := m[1], m[2]
		if !strings.Contains(recipe, "$(call ") && !strings.Contains(recipe, "-race ") && !slices.Contains([]string{"bench", "fuzz"}, target) {
			continue
		}
		named := regexp.MustCompile("`make "+target+"`").MatchString(checks) || regexp.MustCompile("`.ci/run "+target+"`").MatchString(checks)
		if !named {
			violations = append(violations, checksPage+" does not say where make "+target+" runs")
		}
		started := regexp.MustCompile(`make ` + target + `\b(?:[^-]|$)`).MatchString(scripts)
		if _, byHand := byHand[target]; !started && !byHand {
			violations = append(violations, "neither .ci/run nor .ci/nightly starts make "+target)
		}
	}
	return violations
}

var (
	nightlyOnly = regexp.MustCompile(`(?m)^NIGHTLY_ONLY := (.+)$`)
	longRun     = regexp.MustCompile(`\$\(call long_run,(\w+)`)
)

// What e2e leaves to the nightly has a target of its own.
func TestWhatE2ESkipsRunsNightly(t *testing.T) {
	t.Parallel()

	makefile := readText(t, "Makefile")
	for name := range strings.SplitSeq(nightlyOnly.FindStringSubmatch(makefile)[1], "|") {
		started := slices.ContainsFunc(longRun.FindAllStringSubmatch(makefile, -1), func(m []string) bool { return strings.HasPrefix(m[1], name) })
		if !started {
			t.Errorf("make e2e skips %s, and no target of its own starts it", name)
		}
	}
}

// The check finds a proof that nobody starts.
func TestALostProofIsFound(t *testing.T) {
	t.Parallel()

	makefile := "kill: ## Kill\n\t$(call long_run,TestKill)\n\nbuild:\n\tgo build\n"
	if got := lostProofs(makefile, "proof kill make kill KILLS=5\n", "`make kill`"); len(got) != 0 {
		t.Errorf("a proof that runs is reported as lost: %q", got)
	}
	for _, c := range []struct{ scripts, checks, want string }{
		{"make kill-all\n", "`make kill`", "starts make kill"},
		{"make kill\n", "", "where make kill runs"},
	} {
		if got := lostProofs(makefile, c.scripts, c.checks); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("got %q, want one with %q", got, c.want)
		}
	}
}

// A run that is stopped does not say that it passed.
func TestStoppedRunDoesNotPass(t *testing.T) {
	t.Parallel()

	out, err := exec.CommandContext(t.Context(), "bash", "-c", `source .ci/common; step "stopped" bash -c 'kill -TERM $PPID'`).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 143 || !strings.Contains(string(out), "FAILED in step: stopped") {
		t.Errorf("%v: %s", err, out)
	}
}

// A workflow runs the very bytes of other people's actions that somebody has looked at: a tag can be moved.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()

	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	found := 0
	for _, file := range []string{"ci", "nightly", "release"} {
		for _, m := range regexp.MustCompile(`(?m)uses: *(.+)$`).FindAllStringSubmatch(readText(t, ".github/workflows/"+file+".yml"), -1) {
			if found++; !pinned.MatchString(m[1]) {
				t.Errorf("%s.yml uses %s", file, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("no workflow uses an action")
	}
}

// A release that could not ask for known vulnerabilities is refused, and says that nothing was checked.
func TestReleaseAsksForVulnerabilities(t *testing.T) {
	t.Parallel()

	if !strings.Contains(readText(t, "Makefile"), "\nrelease: vulnerabilities ") {
		t.Error("make release does not run make vulnerabilities")
	}
	for more, want := range map[string]int{"": 4, "UNCHECKED=yes": 0} {
		cmd := exec.CommandContext(t.Context(), "bash", ".ci/vulnerabilities")
		cmd.Env = append(cmd.Environ(), "GOVULNDB=http://127.0.0.1:1", more)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want || !strings.Contains(string(out), "NOT RUN") {
			t.Errorf("with %q: %d: %s", more, cmd.ProcessState.ExitCode(), out)
		}
	}
}
