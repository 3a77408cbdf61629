package portal

// deskRoutes are the pages of the regulator's staff.
func (p *Portal) deskRoutes() []route {
	return nil
}
