package portal

import "slices"

// deskRoutes are the pages of the regulator's staff.
func (p *Portal) deskRoutes() []route {
	return slices.Concat(
		p.deskEntityRoutes(), p.deskClientRoutes(), p.deskPaperRoutes(), p.deskApprovalRoutes(), p.deskNumberRoutes(), p.deskSupplyRoutes(),
		p.deskPlanRoutes(), p.deskJournalRoutes(), p.deskLimitRoutes(), p.deskAuditRoutes(), p.deskStaffRoutes(),
	)
}
