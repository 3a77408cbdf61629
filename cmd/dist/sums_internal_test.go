package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever has the public key can tell the checksums of a release from others, with the commands
// of docs/how-to/install.md.
func TestChecksumsAreSigned(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	run := func(script string) error {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		t.Logf("%s: %v\n%s", script, err, out)
		return err
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := run("ssh-keygen -q -t ed25519 -N '' -C throw-away -f " + key + "; printf 'a program' >lineproof-linux-amd64"); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	if err := Sign(t.Context(), filepath.Join(dir, sumsFile), key); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "allowed_signers"), []byte("releases@lineproof.example "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := commandsOf(t, "## Check what you have downloaded")
	if err := run(verify); err != nil {
		t.Error("a good release is refused")
	}
	for name, spoil := range map[string]string{
		"another program":    "printf 'another program' >lineproof-linux-amd64",
		"another checksum":   "printf 'another program' >lineproof-linux-amd64; sha256sum lineproof-linux-amd64 >SHA256SUMS",
		"another key signed": "rm SHA256SUMS.sig; ssh-keygen -q -t ed25519 -N '' -f other; ssh-keygen -q -Y sign -n file -f other SHA256SUMS",
	} {
		if err := run(spoil + "; " + verify); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// commandsOf returns the commands of the first block of a section of the page about installing.
func commandsOf(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "how-to", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	_, block, begins := strings.Cut(section, "```console\n")
	block, _, ends := strings.Cut(block, "```\n")
	if !found || !begins || !ends {
		t.Fatalf("the page has no commands under %q", heading)
	}
	var commands []string
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "# "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return strings.Join(commands, "\n")
}
