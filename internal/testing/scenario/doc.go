// Package scenario holds the rules of lines as an executable table: what is given,
// who reports what and when, what is asked, and what the service answers. Its tests
// run every row against a real database, and generate docs/reference/scenarios.md
// from the same rows.
//
// The expected answers are written from docs/explanation/lines.md, and not from what
// the code does.
package scenario
