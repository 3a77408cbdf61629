package hashing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// cgroupRoot is where version 2 is mounted on every system that uses only that.
const cgroupRoot = "/sys/fs/cgroup"

// newCgroup makes a cgroup if the service manager has delegated that of this
// process, or the one above it: only a cgroup without processes of its own can share
// the processor among others, so the server is usually in a cgroup below the
// delegated one (DelegateSubgroup= of systemd).
func newCgroup() (*cgroup, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, errNoCgroup
	}
	own, ok := ownCgroup(string(text))
	if !ok {
		return nil, errNoCgroup
	}
	failures := []error{errNoCgroup}
	for _, dir := range []string{own, filepath.Dir(own)} {
		if !delegated(dir) {
			continue
		}
		g, err := makeCgroup(dir)
		if err == nil {
			return g, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// ownCgroup returns the directory that /proc/self/cgroup names for version 2.
func ownCgroup(text string) (dir string, ok bool) {
	for line := range strings.Lines(text) {
		if path, found := strings.CutPrefix(strings.TrimSpace(line), "0::/"); found {
			return filepath.Join(cgroupRoot, path), path != ""
		}
	}
	return "", false
}

// delegated reports whether systemd has marked a cgroup as one in which others may
// make cgroups. That it can be written says less: root can write all of them.
func delegated(dir string) bool {
	mark := make([]byte, 8)
	n, err := syscall.Getxattr(dir, "user.delegate", mark)
	return err == nil && string(mark[:n]) == "1"
}
