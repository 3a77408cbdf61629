//go:build !linux

package hashing

import (
	"os"
	"os/exec"
)

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func tieToParent(*exec.Cmd) {}

// lowerPriority changes nothing: the service runs on Linux, and elsewhere only on the
// machines of its developers.
func lowerPriority() string { return "normal" }

func protect() {}

func newCgroup() (*cgroup, error) { return nil, errNoCgroup }
