package portal

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
)

// cast names those who act: the regulator's staff by name, everybody else by
// what they are.
type cast struct{ names map[uuid.UUID]string }

func (p *Portal) cast(ctx context.Context) (cast, error) {
	list, err := p.Registry.Accounts(ctx, uuid.Nil)
	if err != nil {
		return cast{}, err
	}
	c := cast{names: make(map[uuid.UUID]string, len(list))}
	for i := range list {
		c.names[list[i].ID] = list[i].Name
	}
	return c, nil
}

// name says who an actor is. Nobody is "".
func (c cast) name(by audit.Actor) string {
	switch by.Kind {
	case audit.Operator:
		return "The operator, at the command line"
	case audit.System:
		return "The service itself"
	case audit.Client:
		return "Client " + by.ID.String()
	case audit.Account:
		if name := c.names[by.ID]; name != "" {
			return name
		}
		return "Account " + by.ID.String()
	}
	return ""
}

// oneLine is what somebody wrote into a field of several lines, as one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
