// Package deskview has the pages of the regulator's staff. It takes rows and cells
// that organisations see too from package orgview. Package view says how pages are
// written.
//
// The templates import package view with a dot, so that its components read like
// elements of the page.
package deskview
