package portal

// operatorRoutes are the pages of whoever works for an organisation that
// supplies lines.
func (p *Portal) operatorRoutes() []route {
	return nil
}
