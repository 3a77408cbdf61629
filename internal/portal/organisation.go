package portal

import "net/http"

// The paths of whoever works for an organisation.
const (
	keysPath      = "/portal/keys"
	newKeyPath    = "/portal/new-key"
	keyPath       = "/portal/keys/{key}"
	keyRollPath   = "/portal/keys/{key}/roll"
	keyRevokePath = "/portal/keys/{key}/revoke"
	answersPath   = "/portal/guide/answers"
	tryPath       = "/portal/try"
	teamPath      = "/portal/team"
	teamAgainPath = "/portal/team/{account}/invite"
	teamRolePath  = "/portal/team/{account}/role"
	teamOutPath   = "/portal/team/{account}/remove"
	profilePath   = "/portal/profile"
	overviewPath  = "/portal/overview"
	recordsPath   = "/portal/journal"
	recordPath    = "/portal/journal/{request}"
	csvPath       = "/portal/export/journal.csv"
	ndjsonPath    = "/portal/export/journal.ndjson"
	papersPath    = "/portal/documents"
	paperPath     = "/portal/documents/{document}"
	paperFilePath = "/portal/documents/{document}/content"
)

// organisationRoutes are the pages of whoever works for an organisation.
func (p *Portal) organisationRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: overviewPath, who: entity, serve: p.showOverview},
		{method: get, path: recordsPath, who: entity, serve: p.showRecords},
		{method: get, path: recordPath, who: entity, serve: p.showRecord},
		{method: get, path: csvPath, who: entity, upload: true, serve: p.exportCSV},
		{method: get, path: ndjsonPath, who: entity, upload: true, serve: p.exportNDJSON},
		{method: get, path: answersPath, who: anyone, serve: p.showAnswers},
		{method: get, path: keysPath, who: entity, serve: p.showKeys},
		{method: get, path: newKeyPath, who: entity, serve: p.showNewKey},
		{method: post, path: newKeyPath, who: entity, serve: p.createKey},
		{method: get, path: keyPath, who: entity, serve: p.showKey},
		{method: get, path: keyRollPath, who: entity, serve: p.askRollKey},
		{method: post, path: keyRollPath, who: entity, serve: p.rollKey},
		{method: get, path: keyRevokePath, who: entity, serve: p.askRevokeKey},
		{method: post, path: keyRevokePath, who: entity, serve: p.revokeKey},
		{method: get, path: tryPath, who: entity, serve: p.showTry},
		{method: post, path: tryPath, who: entity, serve: p.try},
		{method: get, path: papersPath, who: entity, serve: p.showPapers},
		{method: post, path: papersPath, who: entity, upload: true, serve: p.uploadPaper},
		{method: get, path: paperPath, who: entity, serve: p.showPaper},
		{method: get, path: paperFilePath, who: entity, upload: true, serve: p.sendPaper},
		{method: get, path: teamPath, who: manager, serve: p.showTeam},
		{method: post, path: teamPath, who: manager, serve: p.invite},
		{method: post, path: teamAgainPath, who: manager, serve: p.inviteAgain},
		{method: get, path: teamRolePath, who: manager, serve: p.askRole},
		{method: post, path: teamRolePath, who: manager, serve: p.changeRole},
		{method: get, path: teamOutPath, who: manager, serve: p.askRemove},
		{method: post, path: teamOutPath, who: manager, serve: p.removeFromTeam},
		{method: get, path: profilePath, who: entity, serve: p.showProfile},
	}
}
