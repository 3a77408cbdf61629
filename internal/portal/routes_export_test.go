package portal

// Row is a row of the route table, for tests.
type Row struct {
	Method, Path, Who string
	Limited, Upload   bool
}

var rightWords = map[right]string{
	anyone: "anyone", person: "person", entity: "entity", manager: "manager", operator: "operator", staff: "staff", decider: "decider", administrator: "administrator",
}

// Rows returns the route table.
func (p *Portal) Rows() []Row {
	var rows []Row
	for _, rt := range p.routes() {
		rows = append(rows, Row{rt.method, rt.path, rightWords[rt.who], rt.limited, rt.upload})
	}
	return rows
}

// MenuPaths returns the paths that the menu can list.
func MenuPaths() []string {
	var paths []string
	for _, at := range places {
		paths = append(paths, at.path)
	}
	return paths
}

// Statuses returns the table from codes to statuses.
func Statuses() map[string]int {
	all := map[string]int{}
	for code, status := range statusOf {
		all[string(code)] = status
	}
	return all
}

// LocalPath lets tests try addresses.
var LocalPath = localPath
