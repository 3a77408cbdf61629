// Package e2e holds the tests of the whole: the command as it is shipped, on a
// real PostgreSQL, under load, under damage and under the knife.
//
// The server is the test binary itself, started once more as `lineproof serve`,
// so that the race detector watches both sides. What was promised to callers is
// written down by the callers, in a ledger on disk, and compared with the
// database afterwards by a checker that has a test of its own.
//
// The sizes of the long runs come from the environment; see the targets race,
// kill, drain, faults, overload, restore and fuzz-server of the Makefile.
package e2e
