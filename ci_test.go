package lineproof_test

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// byHand are the long runs that neither CI nor the nightly starts, with the
// reason.
var byHand = map[string]string{
	"bench": "it compares CPU times, which needs a machine that does nothing else",
}

// No proof disappears: every long run of the Makefile is started by CI or by the
// nightly, and CONTRIBUTING says where.
func TestEveryProofRunsSomewhere(t *testing.T) {
	t.Parallel()

	report(t, lostProofs(readText(t, "Makefile"), readText(t, ".ci/run")+readText(t, ".ci/nightly"), readText(t, "CONTRIBUTING.md")))
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z0-9-]+):[^\n]*\n((?:\t[^\n]*\n)+)`)

func lostProofs(makefile, scripts, contributing string) (violations []string) {
	for _, m := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		target, recipe := m[1], m[2]
		if !strings.Contains(recipe, "$(call ") && !strings.Contains(recipe, "-race ") && !slices.Contains([]string{"bench", "fuzz"}, target) {
			continue
		}
		named := regexp.MustCompile("`make "+target+"`").MatchString(contributing) || regexp.MustCompile("`.ci/run "+target+"`").MatchString(contributing)
		if !named {
			violations = append(violations, "CONTRIBUTING.md does not say where make "+target+" runs")
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
	for _, c := range []struct{ scripts, contributing, want string }{
		{"make kill-all\n", "`make kill`", "starts make kill"},
		{"make kill\n", "", "where make kill runs"},
	} {
		if got := lostProofs(makefile, c.scripts, c.contributing); len(got) != 1 || !strings.Contains(got[0], c.want) {
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
