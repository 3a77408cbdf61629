// Package trailview has the HTML of the audit trail: its page with filters, and the table
// that other pages of staff have, too.
package trailview
