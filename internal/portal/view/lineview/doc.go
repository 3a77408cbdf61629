// Package lineview has the pages of the regulator's staff about lines. Package view says
// how pages are written.
//
// The templates import package view with a dot, so that its components read like
// elements of the page.
package lineview
