package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Conflict is a stored event that is held until the regulator's staff confirm it, or
// that contradicts another report. Decide with [OrderConfirm] or [OrderVoid].
type Conflict struct {
	Event       string    `json:"event"` // the service's id of the event
	PhoneNumber string    `json:"phoneNumber"`
	Type        string    `json:"type"`
	ID          string    `json:"id,omitzero"`        // the supplier's
	Source      string    `json:"source"`             // who reported it, such as OPERATOR
	Network     string    `json:"network,omitzero"`   // the network that reported it
	Recipient   string    `json:"recipient,omitzero"` // of a port
	Holder      string    `json:"holder,omitzero"`    // the network that has the number now
	EffectiveAt time.Time `json:"effectiveAt"`
	ReportedAt  time.Time `json:"reportedAt"`
	Result      string    `json:"result"` // ResultWaiting
	Reason      string    `json:"reason"`
	Message     string    `json:"message"`              // a sentence for people
	Status      Status    `json:"status"`               // of the line now
	IfConfirmed Status    `json:"ifConfirmed,omitzero"` // of the line if the event counted; empty if staff cannot confirm it
}

// ConflictsQuery selects conflicts.
type ConflictsQuery struct {
	Network string // only events that this network reported; empty for all
	Held    bool   // only events that staff can confirm
	Cursor  string // the Next of the page before
	Limit   int    // of a page; 0 for the service's own
}

// ConflictList is one page of conflicts, the oldest report first.
type ConflictList struct {
	Conflicts []Conflict `json:"conflicts"`
	Next      string     `json:"next,omitzero"` // the Cursor of the next page; empty on the last
}

// Conflicts returns the events about which the regulator's staff decide. The
// credential is an access token with [ScopeOrder], or a session of the regulator's
// staff.
func (c *Client) Conflicts(ctx context.Context, credential Secret, q ConflictsQuery) (*ConflictList, error) {
	query := url.Values{}
	for name, value := range map[string]string{"network": q.Network, "cursor": q.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Held {
		query.Set("held", "true")
	}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	path := "/api/v1/lines/conflicts"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return readData(ctx, c, credential, "conflicts", path, func(d *ConflictList) bool { return d.Conflicts == nil })
}
