package confined

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// FullLandlock is the version of Landlock that has every restriction used here: files,
// devices, the network, and signals and sockets of other processes. The older ones
// protect files, and seccomp the rest.
const FullLandlock = 6

// LandlockVersion returns the version of Landlock that the kernel has, 0 for none.
func LandlockVersion() int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// readable are the directories and files that a program may read: libraries, fonts, and
// what poppler reads to use them. Those that are missing are skipped.
var (
	readableDirs = []string{
		"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts",
		"/usr/share/fontconfig", "/var/cache/fontconfig", "/usr/share/poppler", "/usr/share/color", "/usr/share/zoneinfo",
	}
	readableFiles = []string{"/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom"}
)

const (
	readFile = landlock.AccessFSSet(llsys.AccessFSReadFile)
	readDir  = landlock.AccessFSSet(llsys.AccessFSReadDir)
	execute  = landlock.AccessFSSet(llsys.AccessFSExecute)
)

// restrictFiles leaves this process libraries and fonts to read, and one program to become.
func restrictFiles(program string) error {
	loader, err := loaderOf(program)
	if err != nil {
		return err
	}
	programs := []string{program}
	if loader != "" {
		programs = append(programs, loader)
	}
	rules := []landlock.Rule{
		landlock.PathAccess(readFile|readDir, readableDirs...).IgnoreIfMissing(),
		landlock.PathAccess(readFile, readableFiles...).IgnoreIfMissing(),
		landlock.PathAccess(readFile|execute, programs...),
	}
	if err := landlock.V7.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("confined: restrict files: %w", err)
	}
	return nil
}

// loaderOf returns the dynamic loader that the kernel starts for a program, "" for a static
// one.
func loaderOf(program string) (path string, err error) {
	f, err := os.Open(program) //nolint:gosec // a program that the service names
	if err != nil {
		return "", fmt.Errorf("confined: open the program: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	binary, err := elf.NewFile(f)
	if err != nil {
		return "", fmt.Errorf("confined: read the program: %w", err)
	}
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP {
			text, err := io.ReadAll(p.Open())
			return strings.TrimRight(string(text), "\x00"), err
		}
	}
	return "", nil
}
