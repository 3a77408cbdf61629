// This part of the package lets work that can wait take less of the processor than requests do.

package confined

import "runtime"

// Niceness gives a process about a tenth of the weight of a normal one. Less would starve
// it: on a busy machine a login took longer than 8 s at the lowest weights (see
// docs/decisions/0026-passwords-are-hashed-in-a-separate-process.md).
const Niceness = 10

// BackgroundPriority lowers the priority of a command that can wait, and leaves half of the
// processors to others. A request takes several turns in several processes, and waits at
// each of them while every processor is in use, whatever the priorities are.
func BackgroundPriority() error {
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	return LowerPriority()
}
