package main

import (
	"context"
	stdjson "encoding/json"
	"encoding/json/v2"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// cannedResponse is a response of verify that the bare server sends for every
// request, so that both send the same headers and the same number of bytes.
type cannedResponse struct {
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// bareAddress is what the bare server writes when it listens.
type bareAddress struct {
	Address string `json:"address"`
}

// serveBare is the process of the bare server: net/http that reads the same
// request with the same strictness and does nothing else. It is the upper limit
// of a service on net/http.
func serveBare(ctx context.Context, in []byte, out io.Writer) error {
	var canned cannedResponse
	if err := stdjson.Unmarshal(in, &canned); err != nil {
		return fmt.Errorf("bench: read the canned response: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bench: listen: %w", err)
	}
	if err := stdjson.NewEncoder(out).Encode(bareAddress{ln.Addr().String()}); err != nil {
		return fmt.Errorf("bench: report the address of the bare server: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+verifyPath, canned)
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second,
	}
	return fmt.Errorf("bench: serve: %w", srv.Serve(ln))
}

// ServeHTTP implements http.Handler.
func (s cannedResponse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		PhoneNumber string `json:"phoneNumber"`
	}
	if err := json.UnmarshalRead(r.Body, &request, json.RejectUnknownMembers(true)); err != nil || request.PhoneNumber == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h := w.Header()
	maps.Copy(h, s.Header)
	h["Content-Length"] = []string{strconv.Itoa(len(s.Body))}
	_, _ = w.Write(s.Body) // the caller may have disconnected
}
