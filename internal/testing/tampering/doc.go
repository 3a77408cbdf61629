// Package tampering attacks the evidence. An attacker owns the database, the files of the
// public log, the archives and the key of the log, and plants one misdeed at a time into a
// small world: a real database, real tiles, two witnesses, a monitor that has seen the log
// before, and receipts of those who asked. The commands that anybody can run must find it.
//
// The attacks were written from a list of kinds and from the formats, by somebody who had
// not read the code of the checks.
package tampering
