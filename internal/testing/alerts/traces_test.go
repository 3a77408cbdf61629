package alerts_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exported is a span as the collector received it.
type exported struct{ trace, id, parent, name string }

// collector is a receiver of OTLP over HTTP, in protobuf.
type collector struct {
	mu    sync.Mutex
	spans []exported
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not an export of traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range fields(body, 1) {
		for _, scope := range fields(resource, 2) {
			for _, span := range fields(scope, 2) {
				c.spans = append(c.spans, exported{hex.EncodeToString(first(span, 1)), hex.EncodeToString(first(span, 2)), hex.EncodeToString(first(span, 4)), string(first(span, 5))})
			}
		}
	}
}

func (c *collector) find(match func(exported) bool) (exported, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if match(s) {
			return s, true
		}
	}
	return exported{}, false
}

// fields returns the values of a field of a protobuf message that have a length: texts, bytes and
// messages.
func fields(message []byte, number uint64) (values [][]byte) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		message = message[max(n, 1):]
		switch tag & 7 {
		case 0: // a number
			_, n = binary.Uvarint(message)
			message = message[max(n, 1):]
		case 1: // eight bytes
			message = message[min(8, len(message)):]
		case 5: // four bytes
			message = message[min(4, len(message)):]
		default:
			size, n := binary.Uvarint(message)
			message = message[max(n, 1):]
			value := message[:min(size, uint64(len(message)))]
			if tag>>3 == number {
				values = append(values, value)
			}
			message = message[len(value):]
		}
	}
	return values
}

func first(message []byte, number uint64) []byte {
	if all := fields(message, number); len(all) > 0 {
		return all[0]
	}
	return nil
}

// A trace that a caller began goes through verify to the commit of its record, and a supply
// request has a span of its transaction; the distribution of its changes is a trace of its own. No
// span has the number.
func TestTracesGoThroughVerifySupplyAndFeed(t *testing.T) { //nolint:paralleltest // the tests share one site
	s := sharedSite(t)
	ctx := t.Context()
	received := &collector{}
	receiver := httptest.NewServer(received)
	defer receiver.Close()
	if err := s.serve(ctx, "LINEPROOF_TRACES_ENDPOINT="+receiver.URL); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.serve(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.public+verifyPath, strings.NewReader(`{"phoneNumber":"+2348031234567"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.demo.APIKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	if _, err := s.do(request); err != nil {
		t.Fatal(err)
	}
	if err := s.reportSwap(ctx, "08031234567"); err != nil {
		t.Fatal(err)
	}
	wants := []struct {
		name  string
		match func(exported) bool
	}{
		{"the request to verify, below the caller's span", func(e exported) bool {
			return e.name == "POST "+verifyPath && e.trace == trace && e.parent == parent
		}},
		{"the wait for its record, below the request", func(e exported) bool {
			route, _ := received.find(func(r exported) bool { return r.name == "POST "+verifyPath && r.trace == trace })
			return e.name == "wait for the record" && e.trace == trace && e.parent == route.id
		}},
		{"the transaction of supply, below its request", func(e exported) bool {
			return e.name == "apply events" && e.parent != ""
		}},
		{"the distribution of the change", func(e exported) bool { return e.name == "distribute changes" && e.parent == "" }},
	}
	for _, want := range wants {
		err := until(ctx, want.name, func(context.Context) error {
			all := received.all() // the match looks for others, so not under the lock
			if slices.ContainsFunc(all, want.match) {
				return nil
			}
			return fmt.Errorf("received %v", all)
		})
		if err != nil {
			t.Error(err)
		}
	}
	if bytes.Contains(fmt.Append(nil, received.all()), []byte("8031234567")) {
		t.Error("a span has the number")
	}
}

func (c *collector) all() []exported {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]exported(nil), c.spans...)
}
