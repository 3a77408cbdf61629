// Package hashing derives the keys of passwords in a process of its own that has a
// low priority, so that a flood of logins takes its processor time from nobody else.
//
// The process is the running program, started again. Requests and answers are
// frames in the pipes of its standard input and output; a password is never an
// argument nor in the environment. The process ends with the one that started it,
// and is started again when it ends by itself.
//
// How many passwords are hashed at once, and how many wait, is decided by
// [secret.Passwords]: the process does what it is asked to do, all at once.
package hashing
