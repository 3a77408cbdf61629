// Package present holds what the pages of organisations and those of the
// regulator's staff have in common: it reads a page of keys, documents, records
// or imports from a domain package and turns it into the rows of package view.
//
// It has no routes and checks no rights. A handler that calls it has already
// established that the visitor may see what is asked for.
package present
