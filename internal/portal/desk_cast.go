package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/registry"
)

// cast names those who act, for staff: a person with the organisation for which
// they work, a program by its client. An organisation is told less: see names.
type cast struct {
	names   map[uuid.UUID]registry.Named // people and organisations
	clients map[uuid.UUID]string
}

// cast looks up everybody who acts, and what else has an id, in one question; in
// two if a program is among them.
func (p *Portal) cast(ctx context.Context, actors []audit.Actor, others ...uuid.UUID) (c cast, err error) {
	ids, programs := slices.Clone(others), false
	for _, a := range actors {
		ids = append(ids, a.ID)
		programs = programs || a.Kind == audit.Client
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	ids = slices.DeleteFunc(slices.Compact(ids), func(id uuid.UUID) bool { return id == uuid.Nil })
	if len(ids) == 0 {
		return c, nil
	}
	if c.names, err = p.Registry.Names(ctx, ids); err != nil || !programs {
		return c, err
	}
	clients, err := p.Keeper.Clients(ctx)
	c.clients = make(map[uuid.UUID]string, len(clients))
	for i := range clients {
		c.clients[clients[i].ID] = clients[i].Name
	}
	return c, err
}

// name says who an actor is. Nobody is "".
func (c cast) name(a audit.Actor) string {
	switch a.Kind {
	case audit.Operator:
		return "The operator"
	case audit.System:
		return "The service"
	case audit.Client:
		if name := c.clients[a.ID]; name != "" {
			return name + " (client)"
		}
		return "A client that is gone, " + a.ID.String()
	case audit.Account:
		if named, ok := c.names[a.ID]; ok {
			return named.String()
		}
		return "Somebody whose account is gone, " + a.ID.String() // entries outlive their actors
	}
	return ""
}

// by is name in the middle of a sentence.
func (c cast) by(a audit.Actor) string {
	if rest, ok := strings.CutPrefix(c.name(a), "The "); ok && (a.Kind == audit.Operator || a.Kind == audit.System) {
		return "the " + rest
	}
	return c.name(a)
}

// called is what a person, an organisation or a client is called; what is none of
// them is called otherwise.
func (c cast) called(id uuid.UUID, otherwise string) string {
	if named, ok := c.names[id]; ok {
		return named.String()
	}
	if name := c.clients[id]; name != "" {
		return name
	}
	return otherwise
}

// oneLine is what somebody wrote into a field of several lines, as one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
