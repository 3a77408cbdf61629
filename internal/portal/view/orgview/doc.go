// Package orgview has the pages of organisations: of those that verify numbers
// and of the telcos that supply lines. Package view says how pages are written.
//
// The templates import package view with a dot, so that its components read like
// elements of the page.
package orgview
