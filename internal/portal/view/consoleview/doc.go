// Package consoleview has the pages on which the people of an organisation follow the
// requests of its applications. Package view says how pages are written.
package consoleview
