// Package confined limits a process that works on a file of a stranger: the program starts
// itself again, and that process gives up what it does not need before it reads a byte.
package confined
