package httpapi

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// timestamp is ISO 8601 in UTC with milliseconds, as the contract shows it.
const timestamp = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timestamp) }

// stampOrNull is for a time that may not be known; the zero time is none.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := stamp(t)
	return &s
}

// envelope is the frame of every answer. StatusCode is text because the
// published contract says so.
type envelope struct {
	Status     string `json:"status"`
	Data       any    `json:"data"`
	StatusCode string `json:"statusCode"`
}

func success(data any) envelope { return envelope{Status: "Success", Data: data, StatusCode: "200"} }

// accepted is for work that goes on after the answer.
func accepted(data any) envelope { return envelope{Status: "Success", Data: data, StatusCode: "202"} }

// respond sends an answer that worked.
func (a *API) respond(w http.ResponseWriter, r *http.Request, data any) error {
	body, err := json.Marshal(success(data))
	if err != nil {
		return err
	}
	send(w, r, http.StatusOK, body)
	return nil
}

// The values of headers that every answer has. A server copies the map, not what
// is in it, and nobody changes it.
var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
	noSniff  = []string{"nosniff"}
)

func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = typeJSON, noStore, noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(body) + 1)}
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		add(r.Context(), slog.String("write_error", "the caller left before the answer")) // there is nobody to tell
	}
}
