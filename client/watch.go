package client

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// WatchList is a list of numbers of whose changes the organisation is told, without its
// members.
type WatchList struct {
	ID            string    `json:"listId"`
	Name          string    `json:"name"`
	Mode          string    `json:"mode"`  // live or test
	State         string    `json:"state"` // active, or held while it waits for the regulator
	Members       int64     `json:"members"`
	Digest        string    `json:"digest"`        // identifies the members
	EffectiveFrom int64     `json:"effectiveFrom"` // the place in the order of all changes from which on it is matched as it is
	CreatedAt     time.Time `json:"createdAt"`
	ChangedAt     time.Time `json:"changedAt"`
}

// ReplacedList is a list after its members were replaced by a file.
type ReplacedList struct {
	WatchList

	DryRun       bool          `json:"dryRun"` // nothing was stored
	Rejected     int64         `json:"rejected"`
	RejectedRows []RejectedRow `json:"rejectedRows"` // the first 1,000
}

// RejectedRow is a row of a file that is not a number that a list can have.
type RejectedRow struct {
	Line int64  `json:"line"`
	Code string `json:"code"` // BAD_FORMAT, NOT_MOBILE or NOT_TEST_NUMBER
}

const watchListsPath = "/api/v1/watch-lists"

func listPath(id string) string { return watchListsPath + "/" + url.PathEscape(id) }

// NewWatchList describes a list to create.
type NewWatchList struct {
	Name           string
	IdempotencyKey string // as in [Application]
}

// CreateWatchList creates an empty list. The key needs the right watch, as for everything
// about lists.
func (c *Client) CreateWatchList(ctx context.Context, key Secret, l NewWatchList) (*WatchList, error) {
	r, err := c.newWatch(ctx, "create watch-list", http.MethodPost, watchListsPath, key, map[string]any{"name": l.Name})
	if err != nil {
		return nil, err
	}
	if err := r.once(l.IdempotencyKey); err != nil {
		return nil, err
	}
	return sendList(ctx, c, r)
}

// WatchLists returns the lists of the organisation in the mode of the key, oldest first.
func (c *Client) WatchLists(ctx context.Context, key Secret) ([]WatchList, error) {
	type list struct {
		Lists []WatchList `json:"watchLists"`
	}
	data, err := readData(ctx, c, key, "watch-lists", watchListsPath, func(d *list) bool { return d.Lists == nil })
	if err != nil {
		return nil, err
	}
	return data.Lists, nil
}

// WatchList returns one list.
func (c *Client) WatchList(ctx context.Context, key Secret, id string) (*WatchList, error) {
	r, err := c.newRead(ctx, "watch-list", listPath(id), key)
	if err != nil {
		return nil, err
	}
	return sendList(ctx, c, r)
}

// DeleteWatchList deletes a list and its members.
func (c *Client) DeleteWatchList(ctx context.Context, key Secret, id string) error {
	r, err := c.newWatch(ctx, "delete watch-list", http.MethodDelete, listPath(id), key, nil)
	if err != nil {
		return err
	}
	_, err = send[envelope[struct{}]](ctx, c, r)
	return err
}

// ChangeWatchList adds and removes up to 10,000 numbers, all or none.
func (c *Client) ChangeWatchList(ctx context.Context, key Secret, id string, add, remove []string) (*WatchList, error) {
	fields := map[string]any{}
	if len(add) > 0 {
		fields["add"] = add
	}
	if len(remove) > 0 {
		fields["remove"] = remove
	}
	r, err := c.newWatch(ctx, "change watch-list", http.MethodPost, listPath(id)+"/members", key, fields)
	if err != nil {
		return nil, err
	}
	r.repeatable = true // the result is the same
	return sendList(ctx, c, r)
}

// ReplaceWatchList makes the numbers of a file the whole list: one number a line, plain or
// compressed with gzip or zstd. With dryRun nothing is stored. Content that can be read
// again, because it has Seek, is sent again where that is safe.
func (c *Client) ReplaceWatchList(ctx context.Context, key Secret, id string, content io.Reader, contentType string, dryRun bool) (*ReplacedList, error) {
	path := listPath(id) + "/members"
	if dryRun {
		path += "?dryRun=true"
	}
	r, err := c.newWatch(ctx, "replace watch-list", http.MethodPut, path, key, nil)
	if err != nil {
		return nil, err
	}
	if err := r.set("Content-Type", cmp.Or(contentType, "text/csv")); err != nil {
		return nil, err
	}
	r.limit, r.repeatable = importTimeout, true
	r.header.Set("Expect", "100-continue")
	r.form = &form{content: content, size: -1}
	if s, ok := content.(io.Seeker); ok {
		r.form.measure(s)
	}
	return sendData(ctx, c, r, func(d *ReplacedList) bool { return d.ID == "" || d.RejectedRows == nil })
}

// WatchListMembers writes the numbers of a list to w, one a line.
func (c *Client) WatchListMembers(ctx context.Context, key Secret, id string, w io.Writer) error {
	r, err := c.newRead(ctx, "watch-list members", listPath(id)+"/members", key)
	if err != nil {
		return err
	}
	r.header.Set("Accept", "text/csv, application/json")
	r.into, r.limit = w, importTimeout
	_, err = c.sendWithRetries(ctx, r)
	return err
}

func (c *Client) newWatch(ctx context.Context, op, method, path string, key Secret, fields map[string]any) (*request, error) {
	r, err := c.newRequest(ctx, op, path)
	if err != nil {
		return nil, err
	}
	r.method = method
	if fields != nil {
		if err := r.sendJSON(fields); err != nil {
			return nil, err
		}
	}
	return r, r.authorize(key)
}

func sendList(ctx context.Context, c *Client, r *request) (*WatchList, error) {
	return sendData(ctx, c, r, func(d *WatchList) bool { return d.ID == "" || d.State == "" })
}
