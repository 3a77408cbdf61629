package main

import (
	"debug/buildinfo"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A rehearsal builds what the tag will give: the programs have its version, the notes are
// those of the changelog, and the checkout has no new tag afterwards.
func TestRehearsalIsTheRelease(t *testing.T) {
	t.Parallel()
	nfpm := os.Getenv("LINEPROOF_NFPM")
	if nfpm == "" {
		t.Skip("builds a release; make release-test")
	}
	checkout := filepath.Join(t.TempDir(), "checkout")
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", checkout, "-c", "user.name=Ada", "-c", "user.email=ada@lineproof.example"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--local", "../..", checkout).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o := Options{Root: checkout, Out: filepath.Join(t.TempDir(), "dist"), For: []string{runtime.GOARCH}, Nfpm: nfpm, Version: "0.999.0", Log: io.Discard}
	if err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "changelog") {
		t.Errorf("a release that the changelog does not have: %v", err)
	}

	const notes = "- A release for the rehearsal."
	file := filepath.Join(checkout, "CHANGELOG.md")
	changelog, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const unreleased = "## [Unreleased]\n"
	start, rest, _ := strings.Cut(string(changelog), unreleased)
	cut := start + unreleased + "\n## [0.999.0] - 2026-11-18\n\n" + notes + "\n\n## [0.0.0] - 2026-11-18\n" + rest
	if err := os.WriteFile(file, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	git("commit", "--quiet", "--all", "--message", "changelog: cut")
	if err := Make(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(o.Out, notesFile)); err != nil || strings.TrimSpace(string(got)) != notes {
		t.Errorf("the notes are %q, %v", got, err)
	}
	info, err := buildinfo.ReadFile(filepath.Join(o.Out, Program(runtime.GOARCH)))
	if err != nil || info.Main.Version != "v0.999.0" {
		t.Errorf("the program has version %q, %v", info.Main.Version, err)
	}
	if tags := git("tag", "--list", "v0.999*"); tags != "" {
		t.Errorf("the checkout has the tags %q", tags)
	}

	git("tag", "v0.999.1")
	if err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "was released after") {
		t.Errorf("a version before the last: %v", err)
	}
}
