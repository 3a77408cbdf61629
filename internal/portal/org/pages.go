// Package org serves the pages of organisations: keys, journal, documents, team
// and the guide to the API. The pages of operators about the lines that they
// supply are in package telco.
package org

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/logreceipt"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/webhook"
)

// Pages serves the pages of organisations. All fields but Simulator, Receipts and
// LogPolicy are required.
type Pages struct {
	*portal.Portal

	Documents *document.Store
	Tally     *tally.Tally
	Record    func(context.Context, uuid.UUID) (record.Entry, error) // finds a record in the database or the archive
	Region    *phone.Region
	API       http.Handler       // the service's own API, to which "Try it" sends requests
	Simulator *sandbox.Simulator // the test numbers; nil for none
	Webhooks  *webhook.Service
	Receipts  *logreceipt.Maker // nil without a public log
	LogPolicy string            // the key of the public log or its policy, for receipts; "" without one
}

const (
	keysPath         = "/portal/keys"
	newKeyPath       = "/portal/new-key"
	keyPath          = "/portal/keys/{key}"
	keyRollPath      = "/portal/keys/{key}/roll"
	keyRevokePath    = "/portal/keys/{key}/revoke"
	answersPath      = "/portal/guide/answers"
	tryPath          = "/portal/try"
	teamPath         = "/portal/team"
	teamInvitePath   = "/portal/team/{account}/invite"
	teamRolePath     = "/portal/team/{account}/role"
	teamKeysPath     = "/portal/team/{account}/keys"
	teamRemovePath   = "/portal/team/{account}/remove"
	teamUnlockPath   = "/portal/team/{account}/unlock"
	profilePath      = "/portal/profile"
	overviewPath     = "/portal/overview"
	recordsPath      = "/portal/journal"
	recordPath       = "/portal/journal/{request}"
	recordProofPath  = "/portal/journal/{request}/receipt"
	receiptFilePath  = "/portal/export/receipts/{request}"
	receiptsPath     = "/portal/receipts"
	verifierPath     = "/portal/export/verify-receipt.html"
	csvPath          = "/portal/export/journal.csv"
	ndjsonPath       = "/portal/export/journal.ndjson"
	documentsPath    = "/portal/documents"
	documentPath     = "/portal/documents/{document}"
	documentFilePath = "/portal/documents/{document}/content"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append(p.webhookRoutes(), []portal.Route{
		{Method: get, Path: overviewPath, Right: portal.OrgMember, Serve: p.showOverview},
		{Method: get, Path: recordsPath, Right: portal.OrgMember, Serve: p.showRecords},
		{Method: post, Path: recordsPath, Right: portal.OrgMember, Serve: p.findByNumber},
		{Method: get, Path: recordPath, Right: portal.OrgMember, Serve: p.showRecord},
		{Method: get, Path: recordProofPath, Right: portal.OrgMember, Serve: p.showReceipt},
		{Method: get, Path: receiptFilePath, Right: portal.OrgMember, Serve: p.sendReceipt},
		{Method: get, Path: receiptsPath, Right: portal.Anyone, Serve: p.showReceipts},
		{Method: get, Path: verifierPath, Right: portal.Anyone, Serve: p.sendVerifier},
		{Method: get, Path: csvPath, Right: portal.OrgMember, Export: true, Serve: p.exportCSV},
		{Method: get, Path: ndjsonPath, Right: portal.OrgMember, Export: true, Serve: p.exportNDJSON},
		{Method: get, Path: answersPath, Right: portal.Anyone, Serve: p.showAnswers},
		{Method: get, Path: keysPath, Right: portal.OrgMember, Serve: p.showKeys},
		{Method: get, Path: newKeyPath, Right: portal.OrgMember, Serve: p.showNewKey},
		{Method: post, Path: newKeyPath, Right: portal.OrgMember, Prove: true, Serve: p.createKey},
		{Method: get, Path: keyPath, Right: portal.OrgMember, Serve: p.showKey},
		{Method: get, Path: keyRollPath, Right: portal.OrgMember, Serve: p.confirmRollKey},
		{Method: post, Path: keyRollPath, Right: portal.OrgMember, Prove: true, Serve: p.rollKey},
		{Method: get, Path: keyRevokePath, Right: portal.OrgMember, Serve: p.confirmRevokeKey},
		{Method: post, Path: keyRevokePath, Right: portal.OrgMember, Prove: true, Serve: p.revokeKey},
		{Method: get, Path: tryPath, Right: portal.OrgMember, Serve: p.showTry},
		{Method: post, Path: tryPath, Right: portal.OrgMember, Serve: p.try},
		{Method: get, Path: documentsPath, Right: portal.OrgMember, Serve: p.showDocuments},
		{Method: post, Path: documentsPath, Right: portal.OrgMember, Upload: true, Serve: p.uploadDocument},
		{Method: get, Path: documentPath, Right: portal.OrgMember, Serve: p.showDocument},
		{Method: get, Path: documentFilePath, Right: portal.OrgMember, Upload: true, Serve: p.sendDocument},
		{Method: get, Path: teamPath, Right: portal.OrgAdmin, Serve: p.showTeam},
		{Method: post, Path: teamPath, Right: portal.OrgAdmin, Prove: true, Serve: p.invite},
		{Method: post, Path: teamInvitePath, Right: portal.OrgAdmin, Prove: true, Serve: p.inviteAgain},
		{Method: get, Path: teamRolePath, Right: portal.OrgAdmin, Serve: p.confirmRole},
		{Method: post, Path: teamRolePath, Right: portal.OrgAdmin, Prove: true, Serve: p.changeRole},
		{Method: get, Path: teamKeysPath, Right: portal.OrgAdmin, Serve: p.confirmKeyRight},
		{Method: post, Path: teamKeysPath, Right: portal.OrgAdmin, Prove: true, Serve: p.changeKeyRight},
		{Method: get, Path: teamRemovePath, Right: portal.OrgAdmin, Serve: p.confirmRemove},
		{Method: post, Path: teamRemovePath, Right: portal.OrgAdmin, Prove: true, Serve: p.removeFromTeam},
		{Method: get, Path: teamUnlockPath, Right: portal.OrgAdmin, Serve: p.confirmUnlock},
		{Method: post, Path: teamUnlockPath, Right: portal.OrgAdmin, Prove: true, Serve: p.unlock},
		{Method: get, Path: profilePath, Right: portal.OrgMember, Serve: p.showProfile},
	}...)
}
