// Package priority lets work that can wait take less of the processor than requests do.
package priority

// Niceness gives a process about a tenth of the weight of a normal one. Less would starve
// it: on a busy machine a login took longer than 8 s at the lowest weights (see
// docs/decisions/0026-passwords-are-hashed-in-a-separate-process.md).
const Niceness = 10
