package main

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What both packages have in them, with mode and owner, besides manual pages.
var packaged = []string{
	"drwxr-x--- lineproof/lineproof /var/lib/lineproof",
	"drwxr-xr-x root/root /etc/lineproof",
	"-rw-r----- root/lineproof /etc/lineproof/lineproof.env",
	"-rwxr-xr-x root/root /usr/bin/lineproof",
	"-rwxr-xr-x root/root /usr/bin/lineproof-nation",
	"-rwxr-xr-x root/root /usr/sbin/lineproof-admin",
	"-rw-r--r-- root/root /usr/lib/systemd/system/lineproof.service",
	"-rw-r--r-- root/root /usr/share/lineproof/port-443.conf",
	"-rw-r--r-- root/root /usr/share/bash-completion/completions/lineproof",
	"-rw-r--r-- root/root /usr/share/fish/vendor_completions.d/lineproof.fish",
	"-rw-r--r-- root/root /usr/share/doc/lineproof/changelog.gz",
	"-rw-r--r-- root/root /usr/share/doc/lineproof/third-party-licences.txt",
	"-rw-r--r-- root/root /usr/share/man/man1/lineproof.1.gz",
}

// The packages of a release have in them what they should, and nothing else; the programs are
// static and those of the packages; the checksums are right.
func TestPackagesAreComplete(t *testing.T) {
	t.Parallel()

	release := os.Getenv("LINEPROOF_DIST")
	if release == "" {
		t.Skip("needs a release; make deb-test")
	}
	debs, rpms := glob(t, release, "*.deb"), glob(t, release, "*.rpm")
	if len(debs) == 0 || len(debs) != len(rpms) {
		t.Fatalf("%d debs and %d rpms", len(debs), len(rpms))
	}
	for _, deb := range debs {
		want := append(slices.Clone(packaged), "-rw-r--r-- root/root /usr/share/zsh/vendor-completions/_lineproof", "-rw-r--r-- root/root /usr/share/doc/lineproof/copyright")
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^(\S+) (\S+) +\d+ \S+ \S+ \.(\S+?)/?$`).FindAllStringSubmatch(output(t, "dpkg-deb", "--contents", deb), -1) {
			got = append(got, m[1]+" "+m[2]+" "+m[3])
		}
		compareContents(t, deb, want, got)
		if conffiles := output(t, "dpkg-deb", "--info", deb, "conffiles"); conffiles != "/etc/lineproof/lineproof.env\n" {
			t.Errorf("%s: conffiles are %q", deb, conffiles)
		}
		program := output(t, "sh", "-c", `dpkg-deb --fsys-tarfile "$0" | tar -xO ./usr/bin/lineproof`, deb)
		arch := strings.TrimSpace(output(t, "dpkg-deb", "--field", deb, "Architecture"))
		published, err := os.ReadFile(filepath.Join(release, Program(arch)))
		if err != nil || program != string(published) {
			t.Errorf("%s has another program than %s: %v", deb, Program(arch), err)
		}
		checkStatic(t, deb, []byte(program))
		checkStatic(t, deb, []byte(output(t, "sh", "-c", `dpkg-deb --fsys-tarfile "$0" | tar -xO ./usr/bin/lineproof-nation`, deb)))
	}
	for _, rpm := range rpms {
		want := append(slices.Clone(packaged), "-rw-r--r-- root/root /usr/share/zsh/site-functions/_lineproof", "-rw-r--r-- root/root /usr/share/licenses/lineproof/LICENSE")
		listed := output(t, "rpm", "-qp", "--queryformat", `[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES}\n]`, rpm)
		compareContents(t, rpm, want, strings.Split(strings.TrimSpace(listed), "\n"))
		if config := output(t, "rpm", "-qpc", rpm); config != "/etc/lineproof/lineproof.env\n" {
			t.Errorf("%s: configuration files are %q", rpm, config)
		}
	}
	sums := output(t, "cat", filepath.Join(release, sumsFile))
	for _, path := range glob(t, release, "*") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if name := filepath.Base(path); !strings.HasPrefix(name, sumsFile) && !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+name+"\n") {
			t.Errorf("%s has no checksum, or another", name)
		}
	}
}

// compareContents compares what a package has with what it should, without directories of the
// system and the manual of each command.
func compareContents(t *testing.T, name string, want, got []string) {
	t.Helper()
	pages := 0
	got = slices.DeleteFunc(got, func(line string) bool {
		if strings.Contains(line, "/man1/lineproof-") {
			pages++
			return true
		}
		return strings.HasPrefix(line, "drwxr-xr-x root/root /") && !strings.HasSuffix(line, "/etc/lineproof")
	})
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if pages < 20 {
		t.Errorf("%s has %d pages of the manual", name, pages)
	}
}

// checkStatic fails unless a program needs no other file to run.
func checkStatic(t *testing.T, name string, program []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program of %s needs %v", name, p.Type)
		}
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
