package confined

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// LowerPriority lowers the priority of this process: of all its threads, and so of those that
// they create.
func LowerPriority() error {
	// A thread inherits the priority of the one that creates it, so a pass over all
	// threads without a change is the last.
	for again := true; again; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("confined: %w", err)
		}
		again = false
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return fmt.Errorf("confined: %w", err)
			}
			changed, err := lowerThread(id)
			if err != nil && !errors.Is(err, syscall.ESRCH) { // a thread may end at any time
				return fmt.Errorf("confined: set the niceness: %w", err)
			}
			again = again || changed
		}
	}
	return nil
}

func lowerThread(thread int) (changed bool, err error) {
	reversed, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread)
	if err != nil || 20-reversed >= Niceness { // the kernel returns 20 less the niceness
		return false, err //nolint:wrapcheck // by the only caller
	}
	return true, syscall.Setpriority(syscall.PRIO_PROCESS, thread, Niceness)
}
