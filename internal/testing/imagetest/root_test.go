package imagetest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// image is the unpacked image: its configuration, and its root file system as a container
// sees it.
type image struct {
	root   string
	Config struct {
		User, WorkingDir      string
		Entrypoint, Cmd, Env  []string
		Labels                map[string]string
		ExposedPorts, Volumes map[string]struct{}
	} `json:"config"`
	uid, gid uint32
}

// unpack reads an OCI archive. The root can't be written except for /tmp and the data directory.
func unpack(t *testing.T, archive string) *image {
	t.Helper()
	dir := t.TempDir()
	i := &image{root: filepath.Join(dir, "root"), uid: 65532, gid: 65532}
	command(t, "tar", "-xf", archive, "-C", dir)
	var index struct{ Manifests []struct{ Digest string } }
	read(t, filepath.Join(dir, "index.json"), &index)
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	blob := func(digest string) string { return filepath.Join(dir, "blobs", strings.ReplaceAll(digest, ":", "/")) }
	read(t, blob(index.Manifests[0].Digest), &manifest)
	read(t, blob(manifest.Config.Digest), i)
	if err := os.Mkdir(i.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, layer := range manifest.Layers {
		command(t, "tar", "-xzf", blob(layer.Digest), "-C", i.root, "--numeric-owner", "--same-permissions")
	}
	return i
}

// mount gives the root what an engine gives it, until the test ends.
func (i *image) mount(t *testing.T) {
	t.Helper()
	done, err := process.AtExit(`umount --recursive --lazy "$0"`, i.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	command(t, "mount", "--bind", i.root, i.root)
	command(t, "mount", "--make-private", i.root)
	command(t, "mount", "-o", "remount,bind,ro", i.root)
	command(t, "mount", "-t", "proc", "proc", filepath.Join(i.root, "proc"))
	command(t, "mount", "--bind", "/dev", filepath.Join(i.root, "dev"))
	command(t, "mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", filepath.Join(i.root, "tmp"))
	command(t, "mount", "-t", "tmpfs", "-o", "mode=700,uid=65532,gid=65532", "tmpfs", filepath.Join(i.root, "var/lib/lineproof"))
}

// command returns a command inside the image, as its user and with its environment.
func (i *image) command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.Config.Entrypoint[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: i.uid, Gid: i.gid}}
	cmd.Dir, cmd.Env = i.Config.WorkingDir, append(append([]string{}, i.Config.Env...), env...)
	return cmd
}

// output runs a command inside the image and returns what it prints to standard output.
func (i *image) output(t *testing.T, env []string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := i.command(t, env, args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if stdin != nil {
		path := filepath.Join(t.TempDir(), "stdin")
		if err := os.WriteFile(path, stdin, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		cmd.Stdin = file
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("lineproof %s: %v\n%s%s", strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out)
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
