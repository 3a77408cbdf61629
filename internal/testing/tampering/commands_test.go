package tampering_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// problemsFound is the exit code of a check that found something.
const problemsFound = 6

// byCommand runs the command of a check in a process of its own, and returns an error unless
// it finds what the function has found.
func (a *attack) byCommand(c *check) error {
	policy := filepath.Join(a.dir, "policy")
	if err := os.WriteFile(policy, []byte(a.policyText), 0o600); err != nil {
		return err
	}
	whom := map[level][]string{unnoticed: nil, database: nil, ownersLog: {"--verifier", a.key.Verifier()}, witnessed: {"--policy", policy}, full: {"--policy", policy}}[c.level]
	state := filepath.Join(a.dir, "command-state")
	switch {
	case c.command == "log rebuild":
		return a.expect("log", "rebuild", filepath.Join(a.dir, "rebuilt"))
	case strings.HasPrefix(c.command, "receipt"):
		var missed []error
		for i, h := range a.handed {
			file := filepath.Join(a.dir, fmt.Sprintf("handed%d.json", i))
			if err := os.WriteFile(file, h.text, 0o600); err != nil {
				return err
			}
			out, code := a.command(append([]string{"receipt", "verify", file}, whom...)...)
			told := strings.Contains(out, h.id.String()) && strings.Contains(out, h.status)
			if proves := code == 0 || h.isPromise && strings.Contains(out, "NOT YET"); proves && told {
				missed = append(missed, fmt.Errorf("receipt verify ended with %d: %s", code, out))
			}
		}
		return errors.Join(missed...)
	case c.level == full:
		if err := os.CopyFS(state, os.DirFS(filepath.Join(a.dir, "monitor-before"))); err != nil {
			return err
		}
		return a.expect(append([]string{"monitor", "--log", a.address, "--state", state, "--receipts", filepath.Join(a.dir, "receipts")}, whom...)...)
	case strings.HasPrefix(c.command, "monitor"):
		return a.expect(append([]string{"monitor", "--log", a.address, "--state", state}, whom...)...)
	}
	return a.expect(strings.Fields(c.command)...)
}

// expect runs a command that is to find something.
func (a *attack) expect(args ...string) error {
	if out, code := a.command(args...); code != problemsFound {
		return fmt.Errorf("%s ended with %d: %s", strings.Join(args, " "), code, out)
	}
	return nil
}

// command runs lineproof on this world.
func (a *attack) command(args ...string) (output string, code int) {
	var out bytes.Buffer
	cmd := exec.CommandContext(a.ctx, got(os.Executable()), args...)
	cmd.Env = []string{
		childSwitch + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"LINEPROOF_DATABASE_URL=" + a.cluster.URL(a.database), "LINEPROOF_DATA=" + a.dir, "LINEPROOF_LOG_ORIGIN=" + origin,
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the code says it
	return out.String(), cmd.ProcessState.ExitCode()
}
