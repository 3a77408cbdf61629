// Package kit has what all pages of the portal share: the layout, the components
// (cards, forms, tables, charts), the asset files (style sheet, scripts, icon),
// and the pages that every visitor has: sign-in, account security, errors. The
// other pages are in the packages of their subjects, beside kit.
//
// A page is a templ component that renders a plain struct, defined in the same
// file. Where it lists rows of the domain, it takes them as they are, and has the
// words and colours of their states. It reads nothing itself: a page shows only what
// a handler has put into its struct. All text is escaped on output; no component
// accepts HTML as a string.
//
// Every page follows these rules: it works without scripts, it loads nothing
// from other hosts, it has no inline script or style, colour never carries a
// meaning that is not in the words too, and every field has a label.
package kit

//go:generate go tool -modfile=../../../../tools/go.mod templ generate
