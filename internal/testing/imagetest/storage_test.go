package imagetest_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/testing/s3test"
)

// storage starts the S3 server with the command of deploy/compose, on the secrets of its ./prepare, and
// returns the settings with which the compose file lets the service use it. It has to be called before
// the root is mounted, because the secrets are put into it.
func storage(t *testing.T, i *image) (settings []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../deploy/compose")); err != nil {
		t.Fatal(err)
	}
	command(t, "sh", filepath.Join(dir, "prepare"), "0.1.0")
	command(t, "cp", "-r", filepath.Join(dir, "secrets"), filepath.Join(i.root, "run"))
	command(t, "chown", "-R", "65532:65532", filepath.Join(i.root, "run/secrets"))
	if err := os.WriteFile(filepath.Join(i.root, "etc/hosts"), []byte("127.0.0.1 s3\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	var file struct {
		Services map[string]struct {
			Command     []string          `yaml:"command"`
			Environment map[string]string `yaml:"environment"`
		} `yaml:"services"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	program, err := s3test.Binary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address(t), ":")
	script := strings.NewReplacer("$$", "$", "exec versitygw", "exec "+program, " :7070", " 127.0.0.1:"+port,
		"/data/", filepath.Join(dir, "data/s3")+"/", "/run/secrets/", filepath.Join(dir, "secrets")+"/").Replace(file.Services["s3"].Command[0])
	log, err := os.Create(filepath.Join(dir, "s3.log"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := process.Run(exec.CommandContext(t.Context(), "sh", "-ec", script), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Kill(); _ = log.Close() })
	waitForStorage(t, dir, port)

	for name, value := range file.Services["lineproof"].Environment {
		if strings.HasPrefix(name, "LINEPROOF_S3_") || name == "SSL_CERT_FILE" {
			settings = append(settings, name+"="+strings.Replace(value, ":7070", ":"+port, 1))
		}
	}
	return settings
}

// waitForStorage asks the server whether it is ready, and trusts only the authority of ./prepare.
func waitForStorage(t *testing.T, dir, port string) {
	t.Helper()
	authority, err := os.ReadFile(filepath.Join(dir, "secrets/ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	trusting := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "s3"}}}
	for range 300 {
		if response, err := trusting.Get("https://127.0.0.1:" + port + "/health"); err == nil {
			_ = response.Body.Close()
			return
		}
		pause.For(t.Context(), 100*time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "s3.log"))
	t.Fatalf("the S3 server is not ready:\n%s", log)
}
