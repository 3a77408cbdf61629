package organisations

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
)

// showEntityAudit serves GET /portal/desk/entities/{entity}/audit.
func (p *Pages) showEntityAudit(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	f := audit.Filter{Entity: e.ID, Before: web.CursorID(r)}
	page, frame := entityFrame(r, &e, "/audit")
	d := EntityAuditData{EntityFrame: frame}
	if d.Trail, err = approvals.Trail(r, p.Portal, f); err != nil {
		return err
	}
	for i := range d.Trail.Rows {
		d.Trail.Rows[i].Entity = "" // it is the same in every row
	}
	return p.Show(w, r, page, EntityAudit(d))
}
