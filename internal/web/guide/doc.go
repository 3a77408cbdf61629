// Package guide serves the documentation at /guide/: the pages of docs/, which are part
// of the binary, a landing page, and a search.
//
// The pages are rendered from Markdown in memory, once, when the first of them is
// requested; the same documents give the same bytes. Everything works without scripts:
// the search is a form that the server answers. No page loads anything from another
// server.
package guide
