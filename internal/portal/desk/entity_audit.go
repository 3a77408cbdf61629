package desk

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/web"
)

// showEntityAudit serves GET /portal/desk/entities/{entity}/audit.
func (p *Pages) showEntityAudit(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	f := audit.Filter{Entity: e.ID, Before: web.CursorID(r)}
	page, frame := entityFrame(r, &e, "/audit")
	d := deskview.EntityAuditData{EntityFrame: frame}
	if d.Trail, err = p.trail(r, f); err != nil {
		return err
	}
	for i := range d.Trail.Rows {
		d.Trail.Rows[i].Entity = "" // it is the same in every row
	}
	return p.Show(w, r, page, deskview.EntityAudit(d))
}
