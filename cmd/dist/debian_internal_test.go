package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/corpus"
)

const maxCommands = 10

// From a clean Debian to the first answer with the commands of docs/how-to/install.md, ten at
// most: the doctor finds nothing to do, files have the owners that they should have, no process of
// the service needs what the unit forbids, and a purge leaves the data.
func TestInstallOnCleanDebian(t *testing.T) {
	t.Parallel()
	release := os.Getenv("LINEPROOF_DIST")
	if release == "" {
		t.Skip("needs root, debootstrap and a release; make deb-test")
	}
	commands := strings.Split(commandsOf(t, "## Install"), "\n")
	if len(commands) > maxCommands {
		t.Errorf("it takes %d commands, more than %d", len(commands), maxCommands)
	}
	d := newDebian(t, release)

	var script strings.Builder
	script.WriteString(d.prelude(t))
	for i, command := range commands {
		fmt.Fprintf(&script, "printf '\\036%d %%s\\n' $(date +%%s%%3N)\n%s\n", i, command)
		if i == 0 {
			script.WriteString("start_postgresql\n")
		}
	}
	script.WriteString("printf '\\036end %s\\n' $(date +%s%3N)\n")
	script.WriteString(afterwards)
	printed := d.run(t, script.String())

	parts := strings.Split(printed, "\x1e")[1:]
	times := make([]int, len(parts))
	for i, part := range parts {
		line, _, _ := strings.Cut(part, "\n")
		_, stamp, _ := strings.Cut(line, " ")
		var err error
		if times[i], err = strconv.Atoi(stamp); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	for i, command := range commands {
		t.Logf("%6.1f s  %s", float64(times[i+1]-times[i])/1000, command)
	}
	last := len(commands)
	t.Logf("%d commands, %.1f s from the package to the first answer, without downloads", last, float64(times[last]-times[0])/1000)

	if answer := parts[last-1]; !strings.Contains(answer, "NORMAL") {
		t.Errorf("the first answer is not NORMAL: %s", answer)
	}
	end := parts[last]
	for _, want := range []string{
		"640 root:lineproof /etc/lineproof/lineproof.env", "750 lineproof:lineproof /var/lib/lineproof", "700 root:root /etc/lineproof/credentials",
		"600 lineproof:lineproof /var/lib/lineproof/pepper", "doctor exit 0", "drawn\n", "drained exit 0", "after purge: pepper is there",
		"man page is there", "completion is there",
	} {
		if !strings.Contains(end, want) {
			t.Errorf("afterwards nothing says %q:\n%s", want, end)
		}
	}
	if strings.Contains(end, "fail  ") {
		t.Errorf("the doctor complains:\n%s", end)
	}
	for _, name := range []string{"serve", "draw"} {
		checkTrace(t, name, d.file(t, "/root/trace."+name))
	}
}

// afterwards is what the test looks at when a reader is done: owners, the doctor, a restart under
// strace, the processes for documents as the service starts them, and removal.
const afterwards = `
stat -c '%a %U:%G %n' /etc/lineproof/lineproof.env /etc/lineproof/credentials /var/lib/lineproof /var/lib/lineproof/pepper
doctor=0; lineproof-admin doctor || doctor=$?; echo "doctor exit $doctor"
stop_service
start_service strace -D -f -qq -o /root/trace.serve
lineproof api verify --key-file test-key.txt +2347290000000
lineproof api login --email nobody@regulator.example --password-file test-key.txt || true # hashes a password
stop_service
(as_service strace -f -qq -o /root/trace.draw -- $program --become-a-confined-program 805306368 20 32 false /usr/bin/pdftoppm -l 1 -scale-to 1200 -) <sample.pdf | cat >page.ppm # it may write to pipes only
head -c 2 page.ppm | grep -q P6 && echo 'drawn'
find /usr/share/man -name 'lineproof-journal.1*' | grep -q . && echo 'man page is there'
bash -c 'source /usr/share/bash-completion/completions/lineproof' && echo 'completion is there'
apt-get purge -y lineproof
test -e /var/lib/lineproof/pepper && test ! -e /etc/lineproof/lineproof.env && echo 'after purge: pepper is there'
`

// debian is a clean root of Debian.
type debian struct{ root, unit string }

// newDebian makes the root with debootstrap, from the mirror that this machine uses, and puts into
// the cache of apt what the first command will install.
func newDebian(t *testing.T, release string) *debian {
	t.Helper()
	d := &debian{root: filepath.Join(t.TempDir(), "debian")}
	args := []string{"--variant=minbase", "bookworm", d.root}
	if mirror := mirrorHere(t); mirror != "" {
		args = append(args, mirror)
	}
	output(t, "debootstrap", args...)
	d.write(t, "/etc/apt/apt.conf.d/99host", output(t, "apt-config", "dump", "Acquire")) // a proxy, if there is one
	d.write(t, "/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")                         // no service manager runs here
	packages, err := filepath.Glob(filepath.Join(release, "lineproof_*_"+runtime.GOARCH+".deb"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("%s has not one package for %s: %q %v", release, runtime.GOARCH, packages, err)
	}
	text, err := os.ReadFile(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "/root/lineproof.deb", string(text))
	for sample := range corpus.Honest() {
		if sample.MediaType == "application/pdf" {
			d.write(t, "/root/sample.pdf", string(sample.Data))
			break
		}
	}
	output(t, "chroot", d.root, "sh", "-euc", "export DEBIAN_FRONTEND=noninteractive; cd /root; apt-get update; apt-get install -y strace; apt-get install -y --download-only ./lineproof.deb postgresql")
	d.unit = output(t, "sh", "-c", `dpkg-deb --fsys-tarfile "$0" | tar -xO ./usr/lib/systemd/system/lineproof.service`, packages[0])
	return d
}

// mirrorHere returns the mirror of Debian that this machine uses, or nothing if it is not a Debian.
func mirrorHere(t *testing.T) string {
	t.Helper()
	lists, err := filepath.Glob("/etc/apt/sources.list.d/*")
	if err != nil {
		t.Fatal(err)
	}
	uri := regexp.MustCompile(`(?m)^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+/debian)/?(?:\s|$)`)
	for _, path := range append([]string{"/etc/apt/sources.list"}, lists...) {
		text, err := os.ReadFile(path)
		if m := uri.FindSubmatch(text); err == nil && m != nil {
			return string(m[1])
		}
	}
	return ""
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var complaints strings.Builder
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, complaints.String())
	}
	return string(out)
}

func (d *debian) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.root, path), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (d *debian) file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prelude starts what systemd would start, as the unit of the package says it: its user, its
// settings, its directory, without capabilities and without new privileges.
func (d *debian) prelude(t *testing.T) string {
	t.Helper()
	value := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(d.unit)
		if m == nil {
			t.Fatalf("the unit has no %s", name)
		}
		return m[1]
	}
	program, arguments, _ := strings.Cut(value("ExecStart"), " ")
	return fmt.Sprintf(`set -euo pipefail
export DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /root
program=%s
start_postgresql() { pg_ctlcluster "$(ls /etc/postgresql)" main start; }
systemctl() { test "$*" = 'enable --now lineproof' && start_service; }
as_service() { # replaces the shell that calls it
	umask %s
	cd %s
	exec env -i PATH="$PATH" $(grep '^[A-Z]' %s) "$@"
}
start_service() {
	as_service "$@" setpriv --reuid=%s --regid=%s --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- $program %s >>/root/serve.log 2>&1 &
	service=$!
	for _ in $(seq 300); do
		if { exec 3<>/dev/tcp/127.0.0.1/8081; } 2>/dev/null; then
			printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
			read -r _ status _ <&3 && test "$status" = 200 && return
		fi
		sleep 0.2
	done
	tail -n 20 /root/serve.log
	return 1
}
stop_service() {
	kill -TERM $service
	drained=0; wait $service || drained=$?
	echo "drained exit $drained"
}
`, program, value("UMask"), value("WorkingDirectory"), value("EnvironmentFile"), value("User"), value("Group"), arguments)
}

// run runs a script in the root, which has processes and a network of its own: only itself.
func (d *debian) run(t *testing.T, script string) string {
	t.Helper()
	d.write(t, "/root/script", script)
	start := time.Now()
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
		`ip link set lo up; exec unshare --root="$0" --mount --mount-proc bash /root/script`, d.root)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // not the language and the settings of this machine
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("after %s: %v\n%s", time.Since(start), err, out)
	}
	return string(out)
}

// checkTrace fails where a process did what the unit forbids, and none of the tests would notice
// without systemd.
func checkTrace(t *testing.T, name, trace string) {
	t.Helper()
	allowed := filterSet(t, "@system-service")
	maps.Copy(allowed, filterSet(t, "@default"))
	for call := range filterSet(t, "@privileged") {
		delete(allowed, call)
	}
	_, trace, begun := strings.Cut(trace, `execve("/usr/bin/lineproof"`) // before that it is setpriv, with root's rights
	if !begun {
		t.Fatalf("%s: the trace has not the program in it", name)
	}
	used := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(trace, -1) {
		used[m[1]]++
	}
	t.Logf("%s: %d kinds of system calls", name, len(used))
	if len(used) < 20 {
		t.Errorf("%s: only %v was traced", name, used)
	}
	for _, call := range slices.Sorted(maps.Keys(used)) {
		if !allowed[call] {
			t.Errorf("%s uses %s %d times, which SystemCallFilter forbids", name, call, used[call])
		}
	}
	for _, forbidden := range []string{
		`mmap\([^)]*PROT_WRITE\|PROT_EXEC`, `mprotect\([^)]*PROT_EXEC`, // MemoryDenyWriteExecute
		`socket\((?:AF_[^UI]|AF_I[^N])`, // RestrictAddressFamilies
		`CLONE_NEW`,                     // RestrictNamespaces
	} {
		if found := regexp.MustCompile(forbidden + `.*`).FindString(trace); found != "" {
			t.Errorf("%s does what the unit forbids: %s", name, found)
		}
	}
}

// filterSet returns the system calls of a set of systemd.
func filterSet(t *testing.T, name string) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	for line := range strings.Lines(output(t, "systemd-analyze", "syscall-filter", name)) {
		switch call := strings.TrimSpace(line); {
		case call == "" || call == name || strings.HasPrefix(call, "#"):
		case strings.HasPrefix(call, "@"):
			maps.Copy(set, filterSet(t, call))
		default:
			set[call] = true
		}
	}
	return set
}
