package portal

import "github.com/lineproof/lineproof/internal/access/stepup"

// Row is a row of the route table, for tests.
type Row struct {
	Method, Path, Who string
	Limited, Upload   bool
	Action            stepup.Action
	Form              string
}

var rightNames = map[Right]string{
	Anyone: "anyone", SignedIn: "person", OrgMember: "entity", OrgAdmin: "manager", TelcoMember: "operator", TelcoAdmin: "operator admin", Staff: "staff", Decider: "decider", Administrator: "administrator",
}

// Rows returns the route table.
func (p *Portal) Rows() []Row {
	var rows []Row
	for _, rt := range p.RouteTable() {
		rows = append(rows, Row{rt.Method, rt.Path, rightNames[rt.Right], rt.Limited, rt.Upload, rt.Action, rt.Form})
	}
	return rows
}

// MenuPaths returns the paths that the menu can list.
func MenuPaths() []string {
	var paths []string
	for _, at := range menuEntries {
		paths = append(paths, at.path)
	}
	return paths
}

// LocalPath is exported for tests.
var LocalPath = localPath
