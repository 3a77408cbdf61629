package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/server/config"
)

const deployed = "../../deploy/package"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// credential finds the comment that says what is in the file of a secret.
var credential = regexp.MustCompile(`(?m)^# /etc/lineproof/credentials/([a-z0-9-]+): (.+)$`)

var setting = regexp.MustCompile(`(?m)^(#?)(LINEPROOF_[A-Z0-9_]+)=(.*)$`)

// The settings file of the packages is valid as it is installed, and also when every
// setting in it is used: no name or value in it is out of date.
func TestSettingsFileIsValid(t *testing.T) {
	t.Parallel()

	var installed, all []string
	file := read(t, filepath.Join(deployed, "lineproof.env"))
	examples := map[string]string{} // of secrets, by the name of their file
	for _, m := range credential.FindAllStringSubmatch(file, -1) {
		examples["/run/credentials/lineproof.service/lineproof_"+m[1]] = m[2]
	}
	for _, m := range setting.FindAllStringSubmatch(file, -1) {
		entry := m[2] + "=" + strings.Trim(m[3], `"`)
		if strings.HasSuffix(m[2], "_FILE") {
			if examples[m[3]] == "" {
				t.Errorf("there is no comment on what is in the file of %s", m[2])
			}
			path := filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(path, []byte(examples[m[3]]), 0o600); err != nil {
				t.Fatal(err)
			}
			entry = m[2] + "=" + path
		}
		if m[1] == "" {
			installed = append(installed, entry)
		}
		all = append(all, entry)
	}
	for name, environ := range map[string][]string{"as installed": installed, "with everything": all} {
		if _, err := config.Load(t.Context(), environ); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Settings without which a part of the service does nothing, or which each node needs,
// are in the settings file.
func TestSettingsFileHasWhatAnOperatorDecides(t *testing.T) {
	t.Parallel()

	file := read(t, filepath.Join(deployed, "lineproof.env"))
	for _, name := range []string{
		"NODE", "REGULATOR_CODE", "REGION", "LISTEN", "TLS_CERT", "TLS_KEY", "DATABASE_URL", "DATA", "PEPPERS",
		"PUBLIC_URL", "SMTP_URL", "MAIL_FROM", "CLAMD_ADDR", "REDIS_URL", "S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY", "S3_SECRET_KEY",
	} {
		if !strings.Contains(file, "LINEPROOF_"+name+"=") && !strings.Contains(file, "LINEPROOF_"+name+"_FILE=") {
			t.Errorf("LINEPROOF_%s is not in the file", name)
		}
	}
}

// systemd lets the service drain: it waits longer than the service takes at most, with
// the settings of the file.
func TestUnitWaitsForTheDrain(t *testing.T) {
	t.Parallel()

	c, err := config.Load(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	waits, err := time.ParseDuration(unitValue(t, "TimeoutStopSec") + "s")
	if err != nil {
		t.Fatal(err)
	}
	if needs := c.DrainDelay + 2*c.DrainTimeout; waits <= needs {
		t.Errorf("systemd kills the service after %s, and it may take %s to drain", waits, needs)
	}
}

// unitValue returns what a setting of the unit is.
func unitValue(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(read(t, filepath.Join(deployed, "lineproof.service")))
	if m == nil {
		t.Fatalf("the unit has no %s", name)
	}
	return m[1]
}

// systemd understands the unit and its drop-in, and rates the sandbox as tight: 2.0 of 10 at
// most, where a unit without any protection has 9.6.
func TestUnitIsTight(t *testing.T) {
	t.Parallel()

	if _, err := exec.LookPath("systemd-analyze"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs systemd-analyze")
	}
	dir := t.TempDir()
	text := strings.ReplaceAll(read(t, filepath.Join(deployed, "lineproof.service")), "/usr/bin/lineproof", "/bin/true") // which is installed
	text = strings.Replace(text, "man:lineproof(1) ", "", 1)
	for name, text := range map[string]string{
		"lineproof.service":                 text,
		"lineproof.service.d/port-443.conf": read(t, filepath.Join(deployed, "port-443.conf")),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unit := filepath.Join(dir, "lineproof.service")
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// The scripts of the packages are shell without an error of syntax, and those which the
// system calls with every argument that it may call them with change nothing where
// systemd does not run.
func TestScriptsDoNothingWithoutSystemd(t *testing.T) {
	t.Parallel()

	if _, err := os.Stat("/run/systemd/system"); err == nil {
		t.Skip("systemd runs here")
	}
	for _, name := range []string{"preinstall.sh", "postinstall.sh", "preremove.sh", "postremove.sh", "lineproof-admin"} {
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", filepath.Join(deployed, name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, name := range []string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		for _, argument := range []string{"configure", "remove", "upgrade", "purge", "abort-install", "0", "1"} {
			if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(deployed, name), argument).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s %s: %v\n%s", name, argument, err, out)
			}
		}
	}
}
