// Package files serves the pages about files of numbers that an organisation sends to be
// verified.
package files

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/filejob"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
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

	Jobs     *filejob.Service
	MaxBytes int64 // of a file, as it is sent
}

// Routes returns the routes of these pages. Members can look and download; admins decide
// which numbers are verified.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: filesPath, Right: portal.OrgMember, Serve: p.showFiles},
		{Method: post, Path: filesPath, Right: portal.OrgAdmin, Upload: true, Serve: p.uploadNumbers},
		{Method: get, Path: filePath, Right: portal.OrgMember, Serve: p.showFile},
		{Method: get, Path: fileProgressPath, Right: portal.OrgMember, Serve: p.showFileProgress},
		{Method: get, Path: fileResultPath, Right: portal.OrgMember, Upload: true, Serve: p.sendFileResult},
		{Method: get, Path: fileCancelPath, Right: portal.OrgAdmin, Serve: p.confirmCancelFile},
		{Method: post, Path: fileCancelPath, Right: portal.OrgAdmin, Serve: p.cancelFile},
	}
}

var (
	filesPage = view.Page{Title: "Files", Lead: "Send a file of numbers, and get a file with the answers. Every row is recorded as if it had been verified by itself.", Active: filesPath}
	fileCrumb = []view.Link{{Label: filesPage.Title, Href: filesPath}}
)

const filesPerPage = 25

// showFiles serves GET /portal/files.
func (p *Pages) showFiles(w http.ResponseWriter, r *http.Request) error {
	d, err := p.filesData(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, filesPage, orgview.Files(d))
}

func (p *Pages) filesData(r *http.Request, form view.Form) (d orgview.FilesData, err error) {
	v := portal.VisitOf(r)
	d = orgview.FilesData{Form: form, Admin: v.Has(portal.OrgAdmin), Now: p.Now()}
	if d.Keys, err = p.fileKeys(r); err != nil {
		return d, err
	}
	before, err := uuid.Parse(r.URL.Query().Get("before"))
	if err == nil {
		d.First = filesPath
	}
	jobs, err := p.Jobs.Jobs(r.Context(), filejob.Owner{Entity: v.Who.Entity}, before, filesPerPage+1)
	if err != nil {
		return d, err
	}
	if len(jobs) > filesPerPage {
		jobs = jobs[:filesPerPage]
		d.Next = filesPath + "?before=" + jobs[filesPerPage-1].ID.String()
	}
	for i := range jobs {
		d.Rows = append(d.Rows, fileRow(&jobs[i]))
	}
	return d, nil
}

// fileRow is a job as pages show it.
func fileRow(j *filejob.Job) orgview.FileRow {
	row := orgview.FileRow{
		ID: j.ID.String(), Href: fileURL(j), Name: j.Name, Mode: j.Owner.Mode, Reason: j.Reason, Bytes: j.Bytes, Rows: j.Rows, Answered: j.Answered, Rejected: j.Rejected,
		InProgress: j.State.Open() && j.State != filejob.Waiting, Open: j.State.Open(), HasResult: j.HasResult(), Created: j.Created, Finished: j.Finished, KeptUntil: j.KeptUntil,
	}
	if row.Name == "" {
		row.Name = "File sent " + j.Created.Format("2 Jan 2006, 15:04") + " UTC"
	}
	row.State, row.Tone = fileState(j)
	return row
}

func fileURL(j *filejob.Job) string { return filesPath + "/" + j.ID.String() }

func fileState(j *filejob.Job) (string, view.Tone) {
	switch j.State {
	case filejob.Waiting:
		return "Waiting for its file", view.Neutral
	case filejob.Checking:
		return "Checking", view.Info
	case filejob.Running:
		return "Verifying", view.Info
	case filejob.Writing:
		return "Writing the result", view.Info
	case filejob.Cancelled:
		return "Cancelled", view.Neutral
	case filejob.Failed:
		return "Failed", view.Bad
	case filejob.Done:
	}
	if !j.HasResult() {
		return "Result deleted", view.Neutral
	}
	return "Done", view.Good
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

func (p *Pages) fileData(r *http.Request) (orgview.FileData, error) {
	_, j, err := p.ownFile(r)
	return orgview.FileData{Row: fileRow(&j), Started: j.Started, Now: p.Now()}, err
}

// showFile serves GET /portal/files/{job}.
func (p *Pages) showFile(w http.ResponseWriter, r *http.Request) error {
	d, err := p.fileData(r)
	if err != nil {
		return err
	}
	page := view.Page{Title: d.Row.Name, Crumbs: fileCrumb, Active: filesPath}
	if d.Row.Open && portal.VisitOf(r).Has(portal.OrgAdmin) {
		page.Actions = []view.Action{{Label: "Cancel job", Href: d.Row.Href + "/cancel", Kind: view.Danger}}
	}
	return p.Show(w, r, page, orgview.File(d))
}

// showFileProgress serves GET /portal/files/{job}/progress: the content of the page, by
// which a script refreshes it.
func (p *Pages) showFileProgress(w http.ResponseWriter, r *http.Request) error {
	d, err := p.fileData(r)
	if err != nil {
		return err
	}
	return p.ShowFragment(w, r, orgview.File(d))
}

// confirmCancelFile serves GET /portal/files/{job}/cancel.
func (p *Pages) confirmCancelFile(w http.ResponseWriter, r *http.Request) error {
	_, j, err := p.ownFile(r)
	if err != nil {
		return err
	}
	row := fileRow(&j)
	return p.Show(w, r, view.Page{Title: "Cancel job", Crumbs: append(fileCrumb[:1:1], view.Link{Label: row.Name, Href: row.Href}), Active: filesPath}, view.Confirm(view.ConfirmData{
		Text:   "There will be no result. Rows that are already recorded stay in your journal, and the numbers stay counted for this year.",
		Action: row.Href + "/cancel", Label: "Cancel job", Kind: view.Danger, Cancel: row.Href,
	}))
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
	return p.RedirectWithFlash(w, r, fileURL(&j), "file.cancelled")
}
