package httpapi

import (
	"slices"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
)

// Operations lists the rows of the route table for tests.
func (a *API) Operations() []string {
	var list []string
	for _, rt := range a.routes() {
		list = append(list, rt.method+" "+rt.path)
	}
	return list
}

// BodyLimits returns how many bytes the body of each operation may have, for tests.
func (a *API) BodyLimits() map[string]int64 {
	limits := make(map[string]int64)
	for _, name := range a.Operations() {
		limits[name] = maxJSON
	}
	for name, limit := range a.bodyLimits() {
		limits[name] = limit.bytes
	}
	return limits
}

// Actions returns the action of each row of the route table, and which rows a session opens.
func (a *API) Actions() (actions map[string]stepup.Action, sessions map[string]bool) {
	actions, sessions = map[string]stepup.Action{}, map[string]bool{}
	for _, rt := range a.routes() {
		actions[rt.method+" "+rt.path], sessions[rt.method+" "+rt.path] = rt.action, slices.Contains(rt.admits, access.Session)
	}
	return actions, sessions
}
