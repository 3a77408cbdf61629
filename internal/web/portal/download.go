package portal

import (
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"

	"github.com/lineproof/lineproof/internal/values/csvfile"
	"github.com/lineproof/lineproof/internal/web"
)

// StartDownload sends the headers of a file to save, which no browser shows as a
// page.
func StartDownload(w http.ResponseWriter, kind, name string) {
	web.SetDownloadHeaders(w.Header(), kind, name)
	w.WriteHeader(http.StatusOK)
}

// AbortDownload cuts the connection of a download that failed half-way, so that
// the file does not look complete, and logs the error.
func AbortDownload(w http.ResponseWriter, r *http.Request, err error) {
	VisitOf(r).Add(slog.String("error", err.Error()))
	web.AbortResponse(w)
}

// NewCSV returns a writer of CSV.
func NewCSV(w io.Writer) *csvfile.Writer { return csvfile.NewWriter(w) }

// HexSum writes a SHA-256 checksum in hexadecimal.
func HexSum(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
