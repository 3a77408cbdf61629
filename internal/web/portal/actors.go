package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// ActorNames names the actors of entries to staff: a person with the organisation
// for which they work, a program by its client. Organisations see less; package
// keys has their version.
type ActorNames struct {
	Names   map[uuid.UUID]registry.DisplayName // people and organisations
	clients map[uuid.UUID]string
}

// NamesOf looks up the names of actors and of other ids in one query, or in two
// if a program is among the actors.
func (p *Portal) NamesOf(ctx context.Context, actors []audit.Actor, others ...uuid.UUID) (c ActorNames, err error) {
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
	if c.Names, err = p.Registry.Names(ctx, ids); err != nil || !programs {
		return c, err
	}
	clients, err := p.Access.Clients(ctx)
	c.clients = make(map[uuid.UUID]string, len(clients))
	for i := range clients {
		c.clients[clients[i].ID] = clients[i].Name
	}
	return c, err
}

// Name returns the name of an actor, "" if there is none.
func (c ActorNames) Name(a audit.Actor) string {
	switch a.Kind {
	case audit.Operator:
		return "Service operator"
	case audit.System:
		return "The service"
	case audit.Client:
		if name := c.clients[a.ID]; name != "" {
			return name + " (client)"
		}
		return "A deleted client, " + a.ID.String()
	case audit.APIKey:
		return "API key " + a.ID.String()
	case audit.Account:
		if named, ok := c.Names[a.ID]; ok {
			return named.String()
		}
		return "A deleted account, " + a.ID.String() // entries outlive their actors
	}
	return ""
}

// By returns the name as it is written within a sentence.
func (c ActorNames) By(a audit.Actor) string {
	if rest, ok := strings.CutPrefix(c.Name(a), "The "); ok && (a.Kind == audit.Operator || a.Kind == audit.System) {
		return "the " + rest
	}
	return c.Name(a)
}

// Called returns the name of a person, an organisation or a client, or the text
// otherwise if the id is none of them.
func (c ActorNames) Called(id uuid.UUID, otherwise string) string {
	if named, ok := c.Names[id]; ok {
		return named.String()
	}
	if name := c.clients[id]; name != "" {
		return name
	}
	return otherwise
}
