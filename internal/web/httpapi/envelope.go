package httpapi

import (
	"encoding/json/v2"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/web"
)

// timestamp is ISO 8601 in UTC with milliseconds, as the contract has it.
const timestamp = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timestamp) }

// stampOrNull is for a time that may be unknown, which is the zero time.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := stamp(t)
	return &s
}

// envelope is the outer object of every response. StatusCode is a string because
// the published contract says so.
type envelope struct {
	Status     string `json:"status"`
	Data       any    `json:"data"`
	StatusCode string `json:"statusCode"`
}

func success(data any) envelope { return envelope{Status: "Success", Data: data, StatusCode: "200"} }

// accepted is for work that continues after the response.
func accepted(data any) envelope { return envelope{Status: "Success", Data: data, StatusCode: "202"} }

// respond sends a success.
func (a *API) respond(w http.ResponseWriter, r *http.Request, data any) error {
	body, err := json.Marshal(success(data))
	if err != nil {
		return err
	}
	send(w, r, http.StatusOK, body)
	return nil
}

// typeJSON is shared between responses: a server copies the header map but not
// its values, and nothing changes them.
var typeJSON = []string{"application/json"}

func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	web.SetAPIHeaders(h)
	h["Content-Type"] = typeJSON
	h["Content-Length"] = []string{strconv.Itoa(len(body) + 1)}
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		add(r.Context(), slog.String("write_error", "the client closed the connection before the response")) // nothing more can be sent
	}
}
