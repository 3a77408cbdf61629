// Package view has what all pages of the portal share: the layout, the components
// (cards, forms, tables, charts), the asset files (style sheet, scripts, icon),
// and the pages that every visitor has: sign-in, account security, errors. The
// pages of organisations are in package orgview, those of the regulator's staff
// in package deskview.
//
// A page is a templ component that renders a plain struct, defined in the same
// file. The three packages import no other package of the service, so a page
// shows only what a handler has put into its struct. All text is escaped on
// output; no component accepts HTML as a string.
//
// Every page follows these rules: it works without scripts, it loads nothing
// from other hosts, it has no inline script or style, colour never carries a
// meaning that is not in the words too, and every field has a label.
package view

//go:generate go tool -modfile=../../../tools/go.mod templ generate
