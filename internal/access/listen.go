package access

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Channel keeps the cache consistent with the database: it receives a notification of
// every change and invalidates what the change concerns. While the node cannot listen,
// every credential is read from the database. It notices within two seconds, so that a
// revocation takes effect in well under five even when the connection hangs.
func (s *Service) Channel() pg.Channel {
	return pg.Channel{
		Name: func(ctx context.Context, from pg.DB) (name string, err error) {
			err = from.QueryRow(ctx, `SELECT name FROM access_channel`).Scan(&name)
			return name, fault.Wrap(err, "access: read the name of the channel")
		},
		Notified: s.apply, Listening: s.cache.setListening,
	}
}

// Listening reports whether this node receives notifications of changes.
func (s *Service) Listening() bool { return s.cache.listening() }

// apply invalidates what a notification names. The triggers send "kind:id".
func (s *Service) apply(payload string) {
	_, id, _ := strings.Cut(payload, ":")
	if changed, err := uuid.Parse(id); err == nil {
		s.cache.invalidate(changed)
	}
}
