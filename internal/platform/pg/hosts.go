package pg

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

// hosts knows which of the several hosts of a database url was the primary when it was last
// looked for. New connections try that one first: the driver asks hosts one after the other,
// and one that accepts connections and never answers would cost each of them its timeout.
type hosts struct {
	primary atomic.Pointer[host]
}

type host struct {
	name string
	port uint16
}

// first puts the known primary before the other hosts of a configuration.
func (h *hosts) first(c *pgx.ConnConfig) {
	known := h.primary.Load()
	if known == nil || known.is(c.Host, c.Port) {
		return
	}
	var all, others []*pgconn.FallbackConfig
	for _, way := range ways(c) {
		if known.is(way.Host, way.Port) {
			all = append(all, way)
		} else {
			others = append(others, way)
		}
	}
	if len(all) == 0 {
		return // another url
	}
	all = append(all, others...)
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
}

// ways returns the hosts of a configuration in order. One occurs twice if it may be asked with
// and without TLS.
func ways(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
}

func (h *host) is(name string, port uint16) bool { return h.name == name && h.port == port }

// find asks all hosts at once, each again and again, until one of them is the primary, which
// it remembers, or ctx ends. It reports whether the primary is another one than before. With
// one host there is nothing to find.
func (h *hosts) find(ctx context.Context, c *pgx.ConnConfig) (moved bool) {
	single := singles(c)
	if len(single) == 1 {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := make(chan *host, len(single))
	for _, s := range single {
		go func() {
			for ctx.Err() == nil {
				if accepts(ctx, s) {
					found <- &host{s.Host, s.Port}
					return
				}
				pause.For(ctx, probePause)
			}
		}()
	}
	select {
	case <-ctx.Done():
		return false
	case now := <-found:
		before := h.primary.Swap(now)
		return before == nil && !now.is(c.Host, c.Port) || before != nil && *before != *now
	}
}

// singles returns a configuration for each host.
func singles(c *pgx.ConnConfig) (all []*pgx.ConnConfig) {
	for _, way := range ways(c) {
		if place := slices.IndexFunc(all, func(s *pgx.ConnConfig) bool { return s.Host == way.Host && s.Port == way.Port }); place >= 0 {
			all[place].Fallbacks = append(all[place].Fallbacks, way)
			continue
		}
		s := c.Copy()
		s.Host, s.Port, s.TLSConfig, s.Fallbacks = way.Host, way.Port, way.TLSConfig, nil
		s.ConnectTimeout = probeTimeout
		all = append(all, s)
	}
	return all
}

// accepts reports whether a host answers as the primary.
func accepts(ctx context.Context, c *pgx.ConnConfig) bool {
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return false
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), probePause)
	defer cancel()
	_ = conn.Close(end) // it was only to ask
	return true
}
