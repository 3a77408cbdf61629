package bankapi

import (
	"encoding/hex"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/watchlist"
)

// maxList is far above the size of a request about a list without members.
const maxList = 16 << 10

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
func (a *API) createList(_ http.ResponseWriter, r *http.Request, c *Call) error {
	var name string
	if err := c.Decode(maxList, nil, Field{Name: "name", Text: &name}); err != nil {
		return err
	}
	l, err := a.Lists.Create(r.Context(), c.Owner, name)
	if err != nil {
		return err
	}
	return c.Respond(listOf(&l, c.Owner.Mode))
}

// showLists serves GET /api/v1/watch-lists.
func (a *API) showLists(_ http.ResponseWriter, r *http.Request, c *Call) error {
	lists, err := a.Lists.Lists(r.Context(), c.Owner)
	if err != nil {
		return err
	}
	shown := make([]listResponse, len(lists))
	for i := range lists {
		shown[i] = listOf(&lists[i], c.Owner.Mode)
	}
	return c.Respond(map[string]any{"watchLists": shown})
}

// listID returns the list in the path. What is not an id is not the id of a list.
func listID(r *http.Request) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("listId"))
	if err != nil {
		return id, watchlist.ErrNoList
	}
	return id, nil
}

// showList serves GET /api/v1/watch-lists/{listId}.
func (a *API) showList(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := listID(r)
	if err != nil {
		return err
	}
	l, err := a.Lists.List(r.Context(), c.Owner, id)
	if err != nil {
		return err
	}
	return c.Respond(listOf(&l, c.Owner.Mode))
}

// deleteList serves DELETE /api/v1/watch-lists/{listId}.
func (a *API) deleteList(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := listID(r)
	if err != nil {
		return err
	}
	if err := a.Lists.Delete(r.Context(), c.Owner, id); err != nil {
		return err
	}
	return c.Respond(struct{}{})
}
