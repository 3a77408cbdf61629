package hashing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// cgroupWeight is a tenth of the default, as the niceness that package confined gives is.
const cgroupWeight = "10"

var errNoCgroup = errors.New("hashing: no cgroup was delegated to this service")

// cgroup is a cgroup (version 2) for the process that hashes passwords.
type cgroup struct{ dir string }

// makeCgroup makes a cgroup of low weight in the directory of another. It leaves
// nothing behind if it fails.
func makeCgroup(parent string) (*cgroup, error) {
	g := &cgroup{dir: filepath.Join(parent, "hash-passwords-"+strconv.Itoa(os.Getpid()))}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // the kernel's usual mode
		return nil, fmt.Errorf("hashing: %w", err)
	}
	weight := filepath.Join(g.dir, "cpu.weight")
	if _, err := os.Stat(weight); err != nil { // the controller is not enabled yet
		if err := set(filepath.Join(parent, "cgroup.subtree_control"), "+cpu"); err != nil {
			return nil, errors.Join(err, os.Remove(g.dir))
		}
	}
	if err := set(weight, cgroupWeight); err != nil {
		return nil, errors.Join(err, os.Remove(g.dir))
	}
	return g, nil
}

// add moves a process with all its threads into the cgroup.
func (g *cgroup) add(pid int) error {
	return set(filepath.Join(g.dir, "cgroup.procs"), strconv.Itoa(pid))
}

// remove removes the cgroup, which must be empty.
func (g *cgroup) remove() { _ = os.Remove(g.dir) }

// set writes a file of the kernel. It never makes one.
func set(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // a cgroup of this service
	if err != nil {
		return fmt.Errorf("hashing: %w", err)
	}
	_, err = f.WriteString(value)
	return fault.Wrap(errors.Join(err, f.Close()), "hashing")
}
