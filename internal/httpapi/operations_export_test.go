package httpapi

// Operations lists the rows of the route table for tests.
func (a *API) Operations() []string {
	var list []string
	for _, rt := range a.routes() {
		list = append(list, rt.method+" "+rt.path)
	}
	return list
}
