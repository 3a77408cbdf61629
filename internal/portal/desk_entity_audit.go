package portal

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// showEntityAudit serves GET /portal/desk/entities/{entity}/audit.
func (p *Portal) showEntityAudit(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	f := audit.Filter{Entity: e.ID}
	f.Before, _ = uuid.Parse(r.URL.Query().Get("after")) // what is no cursor leads to the beginning
	page, frame := entityFrame(r, &e, "/audit")
	d := view.EntityAuditData{EntityFrame: frame}
	if d.Trail, err = p.trail(r, f); err != nil {
		return err
	}
	for i := range d.Trail.Rows {
		d.Trail.Rows[i].Entity = "" // every row would say it
	}
	return p.show(w, r, page, view.EntityAudit(d))
}
