// Package view is what the portal looks like: its pages, the parts that they
// are made of, and the files that a browser loads beside them.
//
// A page is a templ component over a plain struct that stands beside it. The
// package knows no other package of the service, so what a page shows is what a
// handler has put into its struct, and nothing else. Text is escaped where it
// stands; nothing here takes HTML from outside.
//
// What every page keeps to: it works without scripts, it loads nothing from
// elsewhere, it has no inline script or style, colour never says anything that
// words do not say too, and every field has a label.
package view

//go:generate go tool -modfile=../../../tools/go.mod templ generate
