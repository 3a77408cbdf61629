package guide

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/lineproof/lineproof/docs"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/static"
)

//go:embed assets/*.html assets/*.css assets/*.js assets/*.svg
var assets embed.FS

// site is the whole guide, rendered.
type site struct {
	options   Options
	kinds     []*kind
	templates *template.Template
	served    map[string]http.Handler // by path
	index     *index
}

// frame is the data around the content of every page.
type frame struct {
	Options

	Title, Path, Theme, Query string
	Answer                    template.HTML // of the landing page
	Kinds                     []*kind
	Page                      *page // nil on pages that are no document
	Kind                      *kind // nil on pages that belong to no kind
	Results                   []result
}

// Options are what the guide has to know about the service that it belongs to.
type Options struct {
	Portal    bool   // there is a portal to link to
	PublicURL string // under which callers reach the service
}

// Handler serves the guide. The guide is made at the first request; it is part of the binary, so a failure is a
// defect of the build and panics.
func Handler(o Options) http.Handler {
	built := sync.OnceValue(func() *site {
		s, err := build(docs.Files, Options{Portal: o.Portal, PublicURL: cmp.Or(o.PublicURL, "http://127.0.0.1:8080")})
		if err != nil {
			panic(err)
		}
		return s
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { built().ServeHTTP(w, r) })
}

// build renders the guide from the documents in files.
func build(files fs.FS, o Options) (*site, error) {
	all, sections, err := load(files)
	if err != nil {
		return nil, err
	}
	if err := render(all, files); err != nil {
		return nil, err
	}
	templates, err := template.ParseFS(assets, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("guide: read the templates: %w", err)
	}
	s := &site{options: o, kinds: sections, templates: templates, served: map[string]http.Handler{}, index: newIndex(all)}
	s.addPages(all)
	return s, s.addFiles(files)
}

// sampleAnswer is what the request on the landing page is answered; a walk in a browser
// compares it with a real one.
const sampleAnswer = `{
  "status": "Success",
  "data": {
    "phoneNumber": "+2347290000022",
    "status": "SWAPPED",
    "requestId": "01a1d964-6e3b-7c41-8a00-5f0e6b1d9c20",
    "mobileNetwork": "Savanna Mobile",
    "verificationTimestamp": "2026-11-14T09:30:00.123Z"
  },
  "statusCode": "200"
}`

func (s *site) addPages(all []*page) {
	s.add("landing", frame{Title: "Lineproof", Path: Root, Answer: highlight("json", sampleAnswer)})
	for _, p := range all {
		s.add("document", frame{Title: p.Title, Path: p.Path, Page: p, Kind: p.Kind})
	}
	for _, k := range s.kinds {
		if k.Index == nil {
			s.add("kind", frame{Title: k.Label, Path: k.Path, Kind: k})
		}
	}
}

// add adds a page, which is rendered at its first request, once for each theme that a
// visitor can choose.
func (s *site) add(name string, f frame) {
	themes := map[string]func() http.Handler{}
	for _, theme := range []string{"", "light", "dark"} {
		f.Theme = theme
		of := f
		themes[theme] = sync.OnceValue(func() http.Handler { return static.File("text/html; charset=utf-8", s.execute(name, of)) })
	}
	s.served[f.Path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Cookie")
		themes[kit.ThemeOf(r)]().ServeHTTP(w, r)
	})
}

// execute renders a page. The templates are part of the binary and every page is tested,
// so a failure is a defect of the build and panics.
func (s *site) execute(name string, f frame) []byte {
	f.Options, f.Kinds = s.options, s.kinds
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, name+".html", f); err != nil {
		panic(fmt.Errorf("guide: render %s: %w", f.Path, err))
	}
	return b.Bytes()
}

// addFiles adds the pictures, the style and the script.
func (s *site) addFiles(files fs.FS) error {
	pictures, err := list(files, ".png")
	if err != nil {
		return err
	}
	for _, name := range pictures {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("guide: read %s: %w", name, err)
		}
		s.served[Root+name] = static.Picture("image/png", content)
	}
	for name, contentType := range map[string]string{
		"guide.css": "text/css; charset=utf-8", "guide.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return fmt.Errorf("guide: read %s: %w", name, err)
		}
		if name == "guide.css" {
			content = append([]byte(kit.Tokens()), content...)
		}
		s.served[Root+"assets/"+name] = static.File(contentType, content)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.SetPageHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.show(w, r, http.StatusMethodNotAllowed, "missing", frame{Title: "Method not allowed", Path: Root})
		return
	}
	if h := s.served[r.URL.Path]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	switch at := r.URL.Path; {
	case at == Root+"search":
		s.search(w, r)
	case at+"/" == Root || s.served[at+"/"] != nil:
		http.Redirect(w, r, at+"/", http.StatusMovedPermanently) //nolint:gosec // a page of the site
	case strings.HasSuffix(at, ".md") && s.served[address(strings.TrimPrefix(at, Root))] != nil: // as it is called in the repository
		http.Redirect(w, r, address(strings.TrimPrefix(at, Root)), http.StatusMovedPermanently) //nolint:gosec // a page of the site
	default:
		s.show(w, r, http.StatusNotFound, "missing", frame{Title: "Page not found", Path: Root})
	}
}

// show renders a page for one request.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, f frame) {
	f.Theme = kit.ThemeOf(r)
	content := s.execute(name, f)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(content) // html/template has escaped it; the browser may have closed the connection
}

// maxQuery is the longest query in bytes that is searched for.
const maxQuery = 200

// search serves the results of a query. A form sends it, so it needs no script.
func (s *site) search(w http.ResponseWriter, r *http.Request) {
	query := strings.ToValidUTF8(strings.TrimSpace(r.URL.Query().Get("q")), "")
	query = strings.ToValidUTF8(query[:min(len(query), maxQuery)], "")
	s.show(w, r, http.StatusOK, "search", frame{Title: "Search", Path: Root + "search", Query: query, Results: s.index.find(query)})
}
