package httpapi

import (
	"log/slog"
	"math"
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/web"
)

// maxImports is how many imports the list has.
const maxImports = 50

type importsResponse struct {
	Imports []importResponse `json:"imports"`
}

type importResponse struct {
	ImportID    string  `json:"importId"`
	Sender      string  `json:"sender"`
	Network     *string `json:"network"`
	Kind        string  `json:"kind"`
	State       string  `json:"state"`
	AsOf        *string `json:"asOf"`
	DryRun      bool    `json:"dryRun"`
	Rows        int64   `json:"rows"`
	Bytes       int64   `json:"bytes"`
	Rate        int64   `json:"rate"`
	Added       int64   `json:"added"`
	Changed     int64   `json:"changed"`
	Unchanged   int64   `json:"unchanged"`
	Ended       int64   `json:"ended"`
	Duplicates  int64   `json:"duplicates"`
	NoEffect    int64   `json:"noEffect"`
	Waiting     int64   `json:"waiting"`
	PortedOut   int64   `json:"portedOut"`
	Refused     int64   `json:"refused"`
	Reason      string  `json:"reason,omitzero"`
	CreatedAt   string  `json:"createdAt"`
	StartedAt   *string `json:"startedAt"`
	UpdatedAt   string  `json:"updatedAt"`
	FinishedAt  *string `json:"finishedAt"`
	RefusedRows string  `json:"refusedRows"`
}

func importOf(im supply.Import, plan *numbering.Plan) importResponse {
	c := im.Counts
	var network *string
	if im.Authority == line.Operator {
		code := plan.Code(im.Network)
		network = &code
	}
	return importResponse{
		ImportID: im.ID.String(), Sender: im.Authority.String(), Network: network, Kind: string(im.Kind), State: im.State, AsOf: stampOrNull(im.AsOf), DryRun: im.DryRun,
		Rows: im.Rows, Bytes: im.Bytes, Rate: int64(math.Round(im.Rate())), Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged,
		Ended: c.Ended, Duplicates: c.Duplicates, NoEffect: c.NoEffect, Waiting: c.Waiting, PortedOut: c.PortedOut, Refused: c.Refused, Reason: im.Reason,
		CreatedAt: stamp(im.Created), StartedAt: stampOrNull(im.Started), UpdatedAt: stamp(im.Updated), FinishedAt: stampOrNull(im.Finished),
		RefusedRows: importsPath + "/" + im.ID.String() + "/refused",
	}
}

// listImports serves GET /api/v1/lines/imports.
func (a *API) listImports(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	plan, err := a.plan(ctx)
	if err != nil {
		return err
	}
	var list []supply.Import
	if who.Kind == access.Session {
		list, err = a.Lines.Imports(ctx, 0, maxImports)
	} else {
		list, err = a.Lines.ImportsOf(ctx, supplierOf(who), maxImports)
	}
	if err != nil {
		return err
	}
	answer := importsResponse{Imports: make([]importResponse, len(list))}
	for i, im := range list {
		answer.Imports[i] = importOf(im, plan)
	}
	return a.respond(w, r, answer)
}

// showImport serves GET /api/v1/lines/imports/{importId}.
func (a *API) showImport(w http.ResponseWriter, r *http.Request) error {
	im, plan, err := a.importNamed(r)
	if err != nil {
		return err
	}
	return a.respond(w, r, importOf(im, plan))
}

// cancelImport serves POST /api/v1/lines/imports/{importId}/cancel.
func (a *API) cancelImport(w http.ResponseWriter, r *http.Request) error {
	im, plan, err := a.importNamed(r)
	if err != nil {
		return err
	}
	if im, err = a.Lines.Withdraw(r.Context(), im.ID, principal(r.Context()).Actor()); err != nil {
		return err
	}
	return a.respond(w, r, importOf(im, plan))
}

// importNamed returns the import in the path, and the numbering plan. The import of another
// supplier is not found.
func (a *API) importNamed(r *http.Request) (supply.Import, *numbering.Plan, error) {
	ctx := r.Context()
	id, err := pathID(r, "importId", supply.ErrNoImport)
	if err != nil {
		return supply.Import{}, nil, err
	}
	im, err := a.Lines.Import(ctx, id)
	if err != nil {
		return supply.Import{}, nil, err
	}
	plan, err := a.plan(ctx)
	if err != nil {
		return supply.Import{}, nil, err
	}
	if who := principal(ctx); who.Kind != access.Session && !supplierOf(who).Sent(&im, plan) {
		return supply.Import{}, nil, supply.ErrNoImport
	}
	return im, plan, nil
}

// sendRefused serves GET /api/v1/lines/imports/{importId}/refused: a CSV file,
// without the envelope.
func (a *API) sendRefused(w http.ResponseWriter, r *http.Request) error {
	im, _, err := a.importNamed(r)
	if err != nil {
		return err
	}
	out := &csvResponse{w: w, name: "refused-" + im.ID.String() + ".csv"}
	err = a.Lines.RefusedRows(r.Context(), im, out)
	if err == nil || !out.started {
		return err
	}
	// It is too late for an error response.
	add(r.Context(), slog.String("error", err.Error()))
	web.AbortResponse(w)
	return nil
}

// csvResponse sends the header with the first bytes, so that an earlier failure can
// still become an error response.
type csvResponse struct {
	w       http.ResponseWriter
	name    string
	started bool
}

func (c *csvResponse) Write(p []byte) (int, error) {
	if !c.started {
		c.started = true
		h := c.w.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
		h.Set("Content-Disposition", `attachment; filename="`+c.name+`"`)
		web.SetAPIHeaders(h)
		c.w.WriteHeader(http.StatusOK)
	}
	return c.w.Write(p)
}
