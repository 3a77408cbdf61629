// Package e2e has the end-to-end tests: the released command, on a real
// PostgreSQL, under load, with faults and under attack.
//
// The server is the test binary itself, started again as `lineproof serve`, so
// that the race detector covers both sides. The clients record every response in a
// ledger on disk, and a checker, which has tests of its own, compares it with the
// database afterwards.
//
// The sizes of the long runs come from the environment; see the targets race,
// kill, drain, faults, overload, restore and fuzz-server of the Makefile.
package e2e
