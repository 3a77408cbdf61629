package repository_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/lineproof/lineproof/internal/server/config"
)

// composeFile is what the tests read of deploy/compose/compose.yaml.
type composeFile struct {
	Services map[string]composeService `yaml:"services"`
	Secrets  map[string]struct {
		File string `yaml:"file"`
	} `yaml:"secrets"`
}

type composeService struct {
	Image       string            `yaml:"image"`
	User        string            `yaml:"user"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	Environment map[string]string `yaml:"environment"`
	Secrets     []string          `yaml:"secrets"`
	Ports       []string          `yaml:"ports"`
	Restart     string            `yaml:"restart"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var file composeFile
	if err := yaml.Unmarshal([]byte(readText(t, "deploy/compose/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// The program accepts the settings of the compose file, with the secrets that ./prepare creates; a
// second run of it changes none of them.
func TestComposeSettingsAreAccepted(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(whole("deploy/compose"))); err != nil {
		t.Fatal(err)
	}
	prepare := func() map[string]string {
		if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "prepare"), "0.1.0").CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("prepare: %v: %s", err, out)
		}
		secrets := map[string]string{}
		for _, path := range secretFiles(t, dir) {
			secrets[filepath.Base(path)] = readText(t, path)
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		return secrets
	}
	if first, second := prepare(), prepare(); !maps.Equal(first, second) {
		t.Error("the second run changed a secret")
	}
	file := readCompose(t)
	for name, secret := range file.Secrets {
		if text := readText(t, filepath.Join(dir, secret.File)); text == "" {
			t.Errorf("the secret %s is empty", name)
		}
	}
	for _, name := range []string{"lineproof", "migrate"} {
		service := file.Services[name]
		var env []string
		for variable, value := range service.Environment {
			if secret, ok := strings.CutPrefix(value, "/run/secrets/"); ok {
				if !slices.Contains(service.Secrets, secret) {
					t.Errorf("%s: %s names a secret that the service does not get", name, variable)
				}
				value = filepath.Join(dir, "secrets", secret)
			}
			env = append(env, variable+"="+value)
		}
		if _, err := config.Load(t.Context(), env); err != nil || len(env) < 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing runs as root or with a writable root, every image has a version, every server a health check, and
// only this machine reaches a port.
func TestComposeServicesAreConfined(t *testing.T) {
	t.Parallel()

	file := readCompose(t)
	pinned := regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?(-\w+)?$|:\$\{LINEPROOF_VERSION:\?[^}]+\}$`)
	for name, s := range file.Services {
		if s.User == "" || strings.HasPrefix(s.User, "root") || strings.HasPrefix(s.User, "0") {
			t.Errorf("%s runs as %q", name, s.User)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s: its root can be written, or it has capabilities", name)
		}
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %s has no version", name, s.Image)
		}
		if s.Restart != "no" && len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: others reach the port %s", name, port)
			}
		}
		for variable := range s.Environment {
			if strings.HasSuffix(variable, "PASSWORD") || strings.HasSuffix(variable, "_SECRET_KEY") {
				t.Errorf("%s: %s is no file", name, variable)
			}
		}
	}
	if len(file.Services) < 7 {
		t.Errorf("there are %d services", len(file.Services))
	}
}

func secretFiles(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "secrets", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("prepare created no secret: %v", err)
	}
	return paths
}
