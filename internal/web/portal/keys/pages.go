// Package keys has the pages of API keys, with what helps to use one: the status guide, and
// the page on which a request can be tried.
package keys

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. All fields but Simulator are required.
type Pages struct {
	*portal.Portal

	Region    *phone.Region
	API       http.Handler       // the service's own API, to which "Try it" sends requests
	Simulator *sandbox.Simulator // the test numbers; nil for none
}

const (
	keysPath      = "/portal/keys"
	newKeyPath    = "/portal/new-key"
	keyPath       = "/portal/keys/{key}"
	keyRollPath   = "/portal/keys/{key}/roll"
	keyRevokePath = "/portal/keys/{key}/revoke"
	keyReportPath = "/portal/keys/{key}/report-leaked"
	answersPath   = "/portal/guide/answers"
	tryPath       = "/portal/try"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append(portal.Actions(p.Portal, p.ownKeyRow, portal.Action[access.KeyRow]{
		Path: keyReportPath, Right: portal.OrgMember, Change: stepup.ReportKey, Ask: reportQuestion, Do: p.reportKey,
	}), []portal.Route{
		{Method: get, Path: answersPath, Right: portal.Anyone, Serve: p.showAnswers},
		{Method: get, Path: keysPath, Right: portal.OrgMember, Serve: p.showKeys},
		{Method: get, Path: newKeyPath, Right: portal.OrgMember, Serve: p.ShowForm(p.newKey)},
		{Method: post, Path: newKeyPath, Right: portal.OrgMember, Action: stepup.CreateKey, Serve: p.createKey},
		{Method: get, Path: keyPath, Right: portal.OrgMember, Serve: p.showKey},
		{Method: get, Path: keyRollPath, Right: portal.OrgMember, Serve: p.ShowForm(p.roll)},
		{Method: post, Path: keyRollPath, Right: portal.OrgMember, Action: stepup.RollKey, Serve: p.rollKey},
		{Method: get, Path: keyRevokePath, Right: portal.OrgMember, Serve: p.confirmRevokeKey},
		{Method: post, Path: keyRevokePath, Right: portal.OrgMember, Action: stepup.RevokeKey, Serve: p.revokeKey},
		{Method: get, Path: tryPath, Right: portal.OrgMember, Serve: p.showTry},
		{Method: post, Path: tryPath, Right: portal.OrgMember, Action: stepup.TryTestNumber, Serve: p.try},
	}...)
}
