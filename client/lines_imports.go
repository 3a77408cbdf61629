package client

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// The kinds of file.
const (
	ImportSnapshot = "snapshot" // the state of all lines of the network
	ImportEvents   = "events"   // events of some lines
)

// The states of an import in which it stays, or waits for staff.
const (
	ImportHeld      = "held"      // staff have to confirm it
	ImportApplied   = "applied"   // with or without rejected rows
	ImportChecked   = "checked"   // a dry run has ended
	ImportRefused   = "refused"   // the whole file
	ImportCancelled = "cancelled" // by the supplier or by staff
)

// IsEnded reports whether the import will not change any more.
func (i *LineImport) IsEnded() bool {
	switch i.State {
	case ImportApplied, ImportChecked, ImportRefused, ImportCancelled:
		return true
	}
	return false
}

// importTimeout is for one attempt to send a national file.
const importTimeout = time.Hour

// LinesFile is a file of lines or events: CSV, plain or compressed with gzip or
// zstd.
type LinesFile struct {
	Kind   string    // ImportSnapshot or ImportEvents
	AsOf   time.Time // the time of a snapshot; for events, up to when every event has been reported
	Day    bool      // AsOf is a day, of which only the date is sent: its end in the time zone of the regulator's policy
	DryRun bool      // validate, compare and report without changing anything

	// Content is read while it is sent, as in [Document].
	Content io.Reader

	// ContentType is text/csv, application/gzip, application/zstd, or empty to let
	// the service detect it.
	ContentType string

	IdempotencyKey string // as in [Application]
}

// LineImport is an import and its progress.
type LineImport struct {
	ID         string    `json:"importId"`
	Sender     string    `json:"sender"`  // OPERATOR, CLEARING_HOUSE, SECTOR_REGULATOR or REGULATOR
	Network    string    `json:"network"` // of an operator; "" for another sender
	Kind       string    `json:"kind"`
	State      string    `json:"state"` // checking, held, applying, applied, checked, refused, cancelled
	AsOf       time.Time `json:"asOf,omitzero"`
	DryRun     bool      `json:"dryRun"`
	Rows       int64     `json:"rows"` // processed in this state
	Bytes      int64     `json:"bytes"`
	Rate       int64     `json:"rate"` // rows per second
	Added      int64     `json:"added"`
	Changed    int64     `json:"changed"`
	Unchanged  int64     `json:"unchanged"`
	Ended      int64     `json:"ended"`
	Duplicates int64     `json:"duplicates"`
	NoEffect   int64     `json:"noEffect"`
	Waiting    int64     `json:"waiting"` // for a port, or for a confirmation by staff
	PortedOut  int64     `json:"portedOut"`
	Refused    int64     `json:"refused"`
	Reason     string    `json:"reason,omitzero"` // why it is held, or why the whole file was refused, or who cancelled it
	CreatedAt  time.Time `json:"createdAt"`
	StartedAt  time.Time `json:"startedAt,omitzero"` // zero before
	UpdatedAt  time.Time `json:"updatedAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"` // zero before
}

const importsPath = "/api/v1/lines/imports"

// SendLines sends a file of lines or events; the token needs [ScopeSupply], [ScopePort] or [ScopeFlag]. It
// returns as soon as the service has stored the file. Follow its progress with
// [Client.Import].
func (c *Client) SendLines(ctx context.Context, token Secret, f LinesFile) (*LineImport, error) {
	query := url.Values{"kind": {f.Kind}}
	if !f.AsOf.IsZero() {
		query.Set("asOf", formatTime(f.AsOf))
	}
	if !f.AsOf.IsZero() && f.Day {
		query.Set("asOf", f.AsOf.Format(time.DateOnly))
	}
	if f.DryRun {
		query.Set("dryRun", "true")
	}
	r, err := c.newRequest(ctx, "send lines", importsPath+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	if err := r.authorize(token); err != nil {
		return nil, err
	}
	if err := r.once(f.IdempotencyKey); err != nil {
		return nil, err
	}
	if f.Content == nil {
		return nil, r.wrong("the file has no content")
	}
	if err := r.set("Content-Type", cmp.Or(f.ContentType, "application/octet-stream")); err != nil {
		return nil, err
	}
	r.limit = importTimeout
	r.header.Set("Expect", "100-continue") // so that the service can refuse before the file is sent
	r.form = &form{content: f.Content, size: -1}
	if s, ok := f.Content.(io.Seeker); ok {
		r.form.measure(s)
	}
	return sendImport(ctx, c, r)
}

// Import returns an import with its progress. The credential is an access token of
// its sender, or a session of the regulator's staff.
func (c *Client) Import(ctx context.Context, credential Secret, id string) (*LineImport, error) {
	r, err := c.newRead(ctx, "import", importsPath+"/"+url.PathEscape(id), credential)
	if err != nil {
		return nil, err
	}
	return sendImport(ctx, c, r)
}

func sendImport(ctx context.Context, c *Client, r *request) (*LineImport, error) {
	return sendData(ctx, c, r, func(d *LineImport) bool { return d.ID == "" || d.State == "" })
}

// CancelImport cancels an import of your own that is being checked or is held: nothing of it is
// applied, and you can send another file.
func (c *Client) CancelImport(ctx context.Context, token Secret, id string) (*LineImport, error) {
	r, err := c.newRequest(ctx, "cancel import", importsPath+"/"+url.PathEscape(id)+"/cancel")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(token); err != nil {
		return nil, err
	}
	return sendImport(ctx, c, r)
}

// Imports returns the last 50 imports, newest first: those of the token's
// supplier, or all of them with a session of the regulator's staff.
func (c *Client) Imports(ctx context.Context, credential Secret) ([]LineImport, error) {
	type list struct {
		Imports []LineImport `json:"imports"`
	}
	data, err := readData(ctx, c, credential, "imports", importsPath, func(d *list) bool { return d.Imports == nil })
	if err != nil {
		return nil, err
	}
	return data.Imports, nil
}

// RefusedRows writes the rejected rows of an import to w, as CSV with the line of
// the file, the column and the reason. If it fails, w may have received a part of
// them.
func (c *Client) RefusedRows(ctx context.Context, credential Secret, id string, w io.Writer) error {
	r, err := c.newRead(ctx, "rejected rows", importsPath+"/"+url.PathEscape(id)+"/refused", credential)
	if err != nil {
		return err
	}
	r.header.Set("Accept", "text/csv, application/json")
	r.into = w
	_, err = c.sendWithRetries(ctx, r)
	return err
}

// ImportReceipt writes the receipt of an applied file to w: the proof that the service
// applied it, for anybody to whom you give it. Package receipt verifies it. The token needs
// [ScopeSupply]. If it fails, w may have received a part of it.
func (c *Client) ImportReceipt(ctx context.Context, token Secret, id string, w io.Writer) error {
	r, err := c.newRead(ctx, "receipt of an import", importsPath+"/"+url.PathEscape(id)+"/receipt", token)
	if err != nil {
		return err
	}
	r.into = w
	_, err = c.sendWithRetries(ctx, r)
	return err
}

// newRead returns a request that changes nothing.
func (c *Client) newRead(ctx context.Context, op, path string, credential Secret) (*request, error) {
	r, err := c.newRequest(ctx, op, path)
	if err != nil {
		return nil, err
	}
	r.method, r.repeatable = http.MethodGet, true
	return r, r.authorize(credential)
}
