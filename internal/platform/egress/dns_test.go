package egress_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers queries over UDP. A name has a list of answers; each look-up takes
// the next, and the last stays.
type dnsServer struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][][]netip.Addr
	queries map[string]int
}

func startDNS(t *testing.T) *dnsServer {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{conn: conn, answers: map[string][][]netip.Addr{}, queries: map[string]int{}}
	t.Cleanup(func() { _ = conn.Close() })
	go s.serve()
	return s
}

// set gives a name the answers of its look-ups, each a list of addresses.
func (s *dnsServer) set(name string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries[name], s.answers[name] = 0, nil
	for _, list := range answers {
		var addresses []netip.Addr
		for text := range strings.FieldsSeq(list) {
			addresses = append(addresses, netip.MustParseAddr(text))
		}
		s.answers[name] = append(s.answers[name], addresses)
	}
}

func (s *dnsServer) asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries[name]
}

func (s *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *dnsServer) serve() {
	b := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(b)
		if err != nil {
			return
		}
		if answer, ok := s.answer(b[:n]); ok {
			_, _ = s.conn.WriteTo(answer, from)
		}
	}
}

// answer answers one query. Queries for IPv4 count as a look-up; those for IPv6, which
// come with them, get the same list.
func (s *dnsServer) answer(query []byte) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimSuffix(q.Name.String(), ".")
	m.Response, m.Additionals = true, nil
	lists, known := s.answers[name]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	} else {
		for _, a := range lists[min(s.queries[name], len(lists)-1)] {
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
			switch {
			case q.Type == dnsmessage.TypeA && a.Is4():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
			case q.Type == dnsmessage.TypeAAAA && !a.Is4():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
	}
	if q.Type == dnsmessage.TypeA {
		s.queries[name]++
	}
	packed, err := m.Pack()
	return packed, err == nil
}
