package witness

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
)

// maxRequest bounds a request: a proof and a checkpoint are a few thousand bytes.
const maxRequest = 64 << 10

// Handler serves the witness: POST /add-checkpoint for logs, and GET of the last checkpoint
// of a log, named by the hash of its origin, for monitors.
func (w *Witness) Handler(log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxRequest))
		if err != nil {
			http.Error(out, "The request is too long or was cut.", http.StatusBadRequest)
			return
		}
		signature, err := w.Add(string(body))
		if err != nil {
			w.refuse(out, r, log, err)
			return
		}
		_, _ = io.WriteString(out, signature)
	})
	mux.HandleFunc("GET /{origin}/checkpoint", func(out http.ResponseWriter, r *http.Request) {
		note, err := w.Checkpoint(r.PathValue("origin"))
		switch {
		case err != nil:
			w.refuse(out, r, log, err)
		case note == "":
			w.refuse(out, r, log, errUnknown)
		default:
			out.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(out, note)
		}
	})
	return mux
}

func (*Witness) refuse(out http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	if c, ok := errors.AsType[*conflict](err); ok {
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(out, strconv.FormatInt(c.size, 10)+"\n")
		return
	}
	for known, status := range map[error]int{
		errRequest: http.StatusBadRequest, errUnsigned: http.StatusForbidden, errUnknown: http.StatusNotFound, errProof: http.StatusUnprocessableEntity,
	} {
		if errors.Is(err, known) {
			if errors.Is(err, errProof) {
				log.LogAttrs(r.Context(), slog.LevelError, "a log has shown a checkpoint that does not continue its last one")
			}
			http.Error(out, known.Error(), status)
			return
		}
	}
	log.LogAttrs(r.Context(), slog.LevelError, "a checkpoint could not be signed", slog.Any("error", err))
	http.Error(out, "The witness can't sign right now.", http.StatusInternalServerError)
}
