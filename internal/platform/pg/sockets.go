package pg

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// sockets are the open connections of several pools. When another host has become the primary,
// those to the one before are closed: it may be frozen, and the driver would wait 15 s for it to
// say goodbye, with a place in the pool each.
type sockets struct {
	mu   sync.Mutex
	open map[*socket]struct{}
}

// track returns a function that dials as another one does, and remembers what it opened.
func (s *sockets) track(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &socket{conn, s}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open == nil {
			s.open = map[*socket]struct{}{}
		}
		s.open[c] = struct{}{}
		return c, nil
	}
}

// closeAll closes all of them.
func (s *sockets) closeAll() {
	s.mu.Lock()
	before := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range before {
		_ = c.Conn.Close() // what uses it sees the error
	}
}

type socket struct {
	net.Conn

	of *sockets
}

// Close implements [net.Conn].
func (c *socket) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close() //nolint:wrapcheck // it stands for that connection
}
