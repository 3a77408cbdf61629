package httpapi

import (
	"encoding/hex"
	"net/http"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

type listResponse struct {
	ListID        string `json:"listId"`
	Name          string `json:"name"`
	Mode          string `json:"mode"`
	State         string `json:"state"`
	Members       int64  `json:"members"`
	Digest        string `json:"digest"`
	EffectiveFrom int64  `json:"effectiveFrom"`
	CreatedAt     string `json:"createdAt"`
	ChangedAt     string `json:"changedAt"`
}

func listOf(l *watchlist.List, mode string) listResponse {
	return listResponse{
		ListID: l.ID.String(), Name: l.Name, Mode: mode, State: l.State, Members: l.Members, Digest: hex.EncodeToString(l.Digest[:]), EffectiveFrom: l.EffectiveFrom,
		CreatedAt: stamp(l.CreatedAt), ChangedAt: stamp(l.ChangedAt),
	}
}

// createList serves POST /api/v1/watch-lists.
func (b *Bank) createList(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	var name string
	ticket, err := c.decodeOnce("create-watch-list", field{name: "name", text: &name})
	if err != nil {
		return err
	}
	return c.api.once(c.w, r, ticket, func(tx pg.Tx) (any, error) {
		l, err := b.Lists.CreateIn(r.Context(), tx, c.owner, name)
		return listOf(&l, c.owner.Mode), err
	}, nil)
}

// showLists serves GET /api/v1/watch-lists.
func (b *Bank) showLists(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	lists, err := b.Lists.Lists(r.Context(), c.owner)
	if err != nil {
		return err
	}
	shown := make([]listResponse, len(lists))
	for i := range lists {
		shown[i] = listOf(&lists[i], c.owner.Mode)
	}
	return c.respond(map[string]any{"watchLists": shown})
}

// showList serves GET /api/v1/watch-lists/{listId}.
func (b *Bank) showList(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "listId", watchlist.ErrNoList)
	if err != nil {
		return err
	}
	l, err := b.Lists.List(r.Context(), c.owner, id)
	if err != nil {
		return err
	}
	return c.respond(listOf(&l, c.owner.Mode))
}

// deleteList serves DELETE /api/v1/watch-lists/{listId}.
func (b *Bank) deleteList(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "listId", watchlist.ErrNoList)
	if err != nil {
		return err
	}
	if err := b.Lists.Delete(r.Context(), c.owner, id); err != nil {
		return err
	}
	return c.respond(struct{}{})
}
