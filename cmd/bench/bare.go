package main

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// sameAnswer is an answer of verify, which the bare server gives to everybody:
// so both send the same headers and as many bytes.
type sameAnswer struct {
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// bareAddress is what the bare server says when it listens.
type bareAddress struct {
	Address string `json:"address"`
}

// serveBare is the process of the bare server: net/http that reads the same
// question with the same strictness and does nothing else. It is the limit that
// a service on net/http has.
func serveBare(ctx context.Context, in []byte, out io.Writer) error {
	var same sameAnswer
	if err := stdjson.Unmarshal(in, &same); err != nil {
		return fmt.Errorf("bench: read the answer to give: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bench: listen: %w", err)
	}
	if err := stdjson.NewEncoder(out).Encode(bareAddress{ln.Addr().String()}); err != nil {
		return fmt.Errorf("bench: say where the bare server listens: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+verifyPath, same)
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second,
	}
	return fmt.Errorf("bench: serve: %w", srv.Serve(ln))
}

// ServeHTTP implements http.Handler.
func (s sameAnswer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		PhoneNumber string `json:"phoneNumber"`
	}
	if err := json.UnmarshalRead(r.Body, &asked, json.RejectUnknownMembers(true)); err != nil || asked.PhoneNumber == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h := w.Header()
	maps.Copy(h, s.Header)
	h["Content-Length"] = []string{strconv.Itoa(len(s.Body))}
	_, _ = w.Write(s.Body) // a caller who left is none of our business
}
