// Package logfiles serves the public log to everybody: its newest checkpoint, its tiles,
// and a list of the logs with their keys. It needs no credential, and no answer of it
// depends on who asks.
package logfiles

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// ListPath is where the logs are listed.
const ListPath = "/.well-known/lineproof-logs.json"

// Files serves one log.
type Files struct {
	Pool   *pgxpool.Pool
	Tiles  blob.Store
	Origin string
	// Verifier is the public key of the log, as a verifier of signed notes takes it.
	Verifier string
	// Next is that of the key that will replace it and signs already; "" without one.
	Next string

	mu         sync.Mutex
	checkpoint string
	read       time.Time // when the checkpoint was read
}

const (
	forEver = "public, max-age=31536000, immutable"
	brief   = "public, max-age=1"
	// checkpointAge is how long a checkpoint is served without reading it again.
	checkpointAge = time.Second
)

var (
	errNoFile = fault.New(fault.NotFound, "The public log has no such file. A tile exists once a checkpoint covers it; see /guide/reference/public-log.")
	errNone   = fault.New(fault.NotFound, "The public log has no checkpoint yet. The first one follows the first answer within seconds.")
	errStore  = fault.New(fault.Unavailable, "The public log can't be read right now. Send the request again shortly.")
)

// Path returns the path below which the files of the log are: that of its origin.
func (f *Files) Path() string {
	_, path, _ := strings.Cut(f.Origin, "/")
	return "/" + path + "/"
}

// Serve serves a file of the log, or returns why it can't.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Access-Control-Allow-Origin", "*") // a page that verifies receipts may be anywhere
	if r.URL.Path == ListPath {
		f.list(w)
		return nil
	}
	path := strings.TrimPrefix(r.URL.Path, f.Path())
	if path == "checkpoint" {
		return f.serveCheckpoint(w, r)
	}
	t, ok := merkle.ParseTile(path)
	if !ok {
		return errNoFile
	}
	content, err := publiclog.ReadTile(r.Context(), f.Tiles, f.Origin, t)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return errNoFile
	case err != nil:
		return errStore.Because(err)
	}
	send(w, "application/octet-stream", forEver, content)
	return nil
}

func send(w http.ResponseWriter, kind, cache string, content []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", cache)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(content) // a file of the log, which no browser takes for a page
}

func (f *Files) serveCheckpoint(w http.ResponseWriter, r *http.Request) error {
	note, err := f.newest(r.Context())
	switch {
	case err != nil:
		return errStore.Because(err)
	case note == "":
		return errNone
	}
	send(w, "text/plain; charset=utf-8", brief, []byte(note))
	return nil
}

// newest returns the newest checkpoint. However many ask, it is read once a second.
func (f *Files) newest(ctx context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.read) < checkpointAge {
		return f.checkpoint, nil
	}
	note, err := publiclog.Checkpoint(ctx, f.Pool)
	if err != nil {
		return "", err
	}
	f.checkpoint, f.read = note, time.Now()
	return note, nil
}

// list sends the list of the logs. A key from here is for convenience: whoever verifies
// must have got it in another way.
func (f *Files) list(w http.ResponseWriter) {
	type log struct {
		Origin string `json:"origin"`
		Key    string `json:"key"`
		Next   string `json:"nextKey,omitempty"`
		Path   string `json:"path"`
		State  string `json:"state"`
	}
	content, err := json.Marshal(map[string]any{"logs": []log{{f.Origin, f.Verifier, f.Next, f.Path(), "open"}}})
	if err != nil {
		panic(err) // it consists of texts
	}
	send(w, "application/json", "public, max-age=60", content)
}
