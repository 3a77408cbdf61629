// Package files has the pages of files of numbers that an organisation sends to be verified,
// and those on which staff see held files and watch-lists, and notices about past answers.
// The files of lines that operators send are in package operators.
package files

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	filesPath        = "/portal/files"
	filePath         = "/portal/files/{job}"
	fileProgressPath = "/portal/files/{job}/progress"
	fileResultPath   = "/portal/files/{job}/result.csv"
	fileCancelPath   = "/portal/files/{job}/cancel"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	*portal.Portal

	Jobs *filejob.Service
}

// Routes returns the routes of these pages. Members can look and download; admins decide
// which numbers are verified.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append(p.watchRoutes(), []portal.Route{
		{Method: get, Path: filesPath, Right: portal.OrgMember, Serve: p.ShowForm(p.files)},
		{Method: post, Path: filesPath, Right: portal.OrgAdmin, Action: stepup.UploadNumbers, Upload: true, Form: filesPath, Serve: p.uploadNumbers},
		{Method: get, Path: filePath, Right: portal.OrgMember, Serve: p.showFile},
		{Method: get, Path: fileProgressPath, Right: portal.OrgMember, Serve: p.showFileProgress},
		{Method: get, Path: fileResultPath, Right: portal.OrgMember, Upload: true, Serve: p.sendFileResult},
		{Method: get, Path: fileCancelPath, Right: portal.OrgAdmin, Serve: p.confirmCancelFile},
		{Method: post, Path: fileCancelPath, Right: portal.OrgAdmin, Action: stepup.CancelFile, Serve: p.cancelFile},
	}...)
}

var (
	filesPage = kit.Page{Title: "Files", Lead: "Send a file of numbers, and get a file with the answers. Every row is recorded as if it had been verified by itself.", Active: filesPath}
	fileCrumb = []kit.Link{{Label: filesPage.Title, Href: filesPath}}
)

const filesPerPage = 25

// files is the page /portal/files.
func (p *Pages) files(r *http.Request, form kit.Form) (_ kit.Page, _ templ.Component, err error) {
	v := portal.VisitOf(r)
	d := FilesData{Form: form, Admin: v.Has(portal.OrgAdmin), Now: p.Now()}
	if d.Keys, err = p.fileKeys(r); err != nil {
		return filesPage, nil, err
	}
	before, err := uuid.Parse(r.URL.Query().Get("before"))
	if err == nil {
		d.First = filesPath
	}
	d.Rows, err = p.Jobs.Jobs(r.Context(), filejob.Owner{Entity: v.Who.Entity}, before, filesPerPage+1)
	if err != nil {
		return filesPage, nil, err
	}
	if len(d.Rows) > filesPerPage {
		d.Rows = d.Rows[:filesPerPage]
		d.Next = filesPath + "?before=" + d.Rows[filesPerPage-1].ID.String()
	}
	return filesPage, Files(d), nil
}

func fileBy(r *http.Request) filejob.By {
	v := portal.VisitOf(r)
	return filejob.By{Actor: v.Who.Actor(), Request: v.ID}
}

// ownFile returns the job that the path names, if it belongs to the visitor's
// organisation.
func (p *Pages) ownFile(r *http.Request) (filejob.Owner, filejob.Job, error) {
	o := filejob.Owner{Entity: portal.VisitOf(r).Who.Entity}
	id, err := portal.PathID(r, "job")
	if err != nil {
		return o, filejob.Job{}, err
	}
	j, err := p.Jobs.Job(r.Context(), o, id)
	return o, j, err
}

// showFile serves GET /portal/files/{job}.
func (p *Pages) showFile(w http.ResponseWriter, r *http.Request) error {
	_, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	page := kit.Page{Title: FileName(&j), Crumbs: fileCrumb, Active: filesPath}
	if j.State.Open() && portal.VisitOf(r).Has(portal.OrgAdmin) {
		page.Actions = []kit.Action{{Label: "Cancel job", Href: FileHref(&j) + "/cancel", Kind: kit.Danger}}
	}
	return p.Show(w, r, page, File(&j, p.Now()))
}

// showFileProgress serves GET /portal/files/{job}/progress: the content of the page, by
// which a script refreshes it.
func (p *Pages) showFileProgress(w http.ResponseWriter, r *http.Request) error {
	_, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	return p.ShowFragment(w, r, File(&j, p.Now()))
}

// confirmCancelFile serves GET /portal/files/{job}/cancel.
func (p *Pages) confirmCancelFile(w http.ResponseWriter, r *http.Request) error {
	_, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	at := FileHref(&j)
	page, body := portal.Question(r, kit.ConfirmData{
		Title: "Cancel job", Crumbs: append(fileCrumb[:1:1], kit.Link{Label: FileName(&j), Href: at}), Label: "Cancel job", Kind: kit.Danger, Cancel: at,
		Text: "There will be no result. Rows that are already recorded stay in your journal, and the numbers stay counted for this year.",
	}, kit.Form{})
	return p.Show(w, r, page, body)
}

// cancelFile serves POST /portal/files/{job}/cancel.
func (p *Pages) cancelFile(w http.ResponseWriter, r *http.Request) error {
	o, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	if _, err := p.Jobs.Cancel(r.Context(), o, j.ID, fileBy(r)); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, FileHref(&j), "file.cancelled")
}
