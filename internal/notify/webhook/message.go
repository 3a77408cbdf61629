package webhook

import (
	"context"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/egress"
)

// The limits of one request.
const (
	maxEvents = 100
	maxBytes  = 256 << 10
)

// message is the body of a request and what names it.
type message struct {
	id          string // the same id always has the same bytes, unless a number was erased meanwhile
	kind        Kind
	contentType string
	body        []byte
	first, last int64 // seq of its events; 0 if they are not of the feed
	events      int
}

// compose puts entries into a message: as many as the form and the limits allow, at least
// one. A message with several events is named after the first and the last.
func compose(form Form, entries []feed.Entry) message {
	first := &entries[0]
	m := message{id: first.ID(), kind: KindEvents, first: first.Seq, last: first.Seq, events: 1}
	if form == Single {
		m.contentType, m.body = "application/cloudevents+json", first.JSON()
		return m
	}
	m.contentType = "application/cloudevents-batch+json"
	m.body = append(append(m.body, '['), first.JSON()...)
	for i := 1; i < len(entries) && m.events < maxEvents; i++ {
		event := entries[i].JSON()
		if len(m.body)+len(event)+2 > maxBytes {
			break
		}
		m.body = append(append(m.body, ','), event...)
		m.last = entries[i].Seq
		m.id = first.ID() + "_" + entries[i].ID()
		m.events++
	}
	m.body = append(m.body, ']')
	return m
}

// post sends a message and returns the answer, or why there was none.
func (s *Service) post(ctx context.Context, e *Endpoint, keys []Key, m message) (Attempt, egress.Answer, error) {
	at := s.now()
	signed := Sign(m.id, at, m.body, keys...)
	began := time.Now()
	answer, err := s.Egress.Post(ctx, e.URL, s.allowsLoopback(e.Mode) && strings.HasPrefix(e.URL, "http://"), map[string]string{
		"Content-Type": m.contentType, "User-Agent": "Lineproof-Webhooks/1",
		HeaderID: signed.ID, HeaderTimestamp: signed.Timestamp, HeaderSignature: signed.Signature,
	}, m.body)
	a := Attempt{At: at, Kind: m.kind, Message: m.id, First: m.first, Last: m.last, Events: m.events, Status: answer.Status, Took: time.Since(began), Answer: answer.Body}
	if err != nil {
		a.Error = err.Error()
		if ctx.Err() != nil {
			a.Error = egress.ErrTimeout.Error()
		}
	}
	return a, answer, err
}
