package portal

import (
	"errors"
	"net/http"
	"path"
	"slices"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var (
	factorFirstPage = kit.Page{Title: "Set up two-factor authentication first", Lead: "Nothing has changed yet: this needs more than a password."}
	factorWaitsPage = kit.Page{Title: "Confirm your two-factor authentication first", Lead: "Nothing has changed yet: it was just set up, and a password was enough for that."}
)

// orSetUpFactor responds with a page that leads to the setup of two-factor authentication, and
// from there back to the page of the form, if that is what err lacks, or that says what it
// waits for; else it returns err.
func (p *Portal) orSetUpFactor(rt Route, w http.ResponseWriter, r *http.Request, err error) error {
	waits := errors.Is(err, people.ErrFactorWaits)
	if !waits && !errors.Is(err, people.ErrNoFactorYet) {
		return err
	}
	if rt.Upload {
		Drain(r.Body) // browsers show the response only after they have sent everything
	}
	if waits {
		return p.ShowInvalid(w, r, err, factorWaitsPage, kit.FactorWaits(FaultOf(err).Violations[0].Message, p.formPage(rt, r)))
	}
	return p.ShowInvalid(w, r, err, factorFirstPage, kit.FactorFirst(p.formPage(rt, r)))
}

// formPage returns the page with the form that sent a request: the nearest above it that
// can be opened.
func (p *Portal) formPage(rt Route, r *http.Request) string {
	if rt.Form != "" {
		return rt.Form
	}
	table := p.RouteTable()
	pattern, at := rt.Path, r.URL.Path
	for len(pattern) > len(Path) {
		if slices.ContainsFunc(table, func(o Route) bool { return o.Method == http.MethodGet && o.Path == pattern }) {
			return localPath(at)
		}
		pattern, at = path.Dir(pattern), path.Dir(at)
	}
	return home
}
