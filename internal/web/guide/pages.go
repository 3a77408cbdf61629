package guide

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Root is the path of the landing page; all pages are below it.
const Root = "/guide/"

// page is one document.
type page struct {
	File    string // below docs/, such as how-to/deploy.md
	Path    string // of its address
	Title   string
	Summary string // what the list that links to it says about it
	Group   string // the heading of that list

	Kind       *kind
	Body       template.HTML
	Sections   []section
	Prev, Next *page

	source []byte
	tree   ast.Node
}

// section is a part of a page under one heading. The first has the title of the page
// and no anchor.
type section struct {
	Level           int
	Anchor, Heading string
	text            string
	terms           []string // what its tables define
}

// Contents are the headings that the table of contents of a page lists.
func (p *page) Contents() []section {
	return slices.DeleteFunc(slices.Clone(p.Sections), func(s section) bool { return s.Level != 2 && s.Level != 3 })
}

// kind is one of the kinds of documents: a directory below docs/.
type kind struct {
	Dir, Label, Lead string
	Path             string
	Pages            []*page // without the index
	Index            *page   // its README.md; nil if it has none
}

// Group is a part of the menu.
type group struct {
	Label string
	Pages []*page
}

// Groups are the pages of a kind under the headings of its index, in its order.
func (k *kind) Groups() []group {
	var all []group
	for _, p := range k.Pages {
		if len(all) == 0 || all[len(all)-1].Label != p.Group {
			all = append(all, group{Label: p.Group})
		}
		all[len(all)-1].Pages = append(all[len(all)-1].Pages, p)
	}
	return all
}

// kinds are the directories in the order of the menu. Others follow, under their names.
var kinds = []kind{
	{Dir: "tutorial", Label: "Tutorials", Lead: "Learn by doing: follow one from its first step to its result."},
	{Dir: "how-to", Label: "How-to guides", Lead: "Steps for one task each."},
	{Dir: "how-to/runbooks", Label: "Runbooks", Lead: "What an alert means, what to do, and how to see that it worked."},
	{Dir: "reference", Label: "Reference", Lead: "Every setting, command, code, file and number, to look up."},
	{Dir: "explanation", Label: "Explanation", Lead: "How it works, what it promises, and what it costs."},
	{Dir: "decisions", Label: "Decisions", Lead: "Why things are as they are, and what would change our mind."},
}

// address returns the path at which a file below docs/ is served.
func address(file string) string {
	dir, name := path.Split(file)
	switch {
	case file == "README.md":
		return Root + "contents"
	case name == "README.md":
		return Root + dir
	default:
		return Root + strings.TrimSuffix(file, ".md")
	}
}

// load parses every document of files and puts them in order.
func load(files fs.FS) ([]*page, []*kind, error) {
	names, err := list(files, ".md")
	if err != nil {
		return nil, nil, err
	}
	byFile := map[string]*page{}
	var all []*page
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, fmt.Errorf("guide: read %s: %w", name, err)
		}
		p := &page{File: name, Path: address(name), source: source, tree: parse(source)}
		p.Sections = sectionsOf(p)
		p.Title = p.Sections[0].Heading
		byFile[name] = p
		all = append(all, p)
	}
	return all, sorted(all, byFile), nil
}

// list returns the paths of the files with an extension, sorted.
func list(files fs.FS, extension string) ([]string, error) {
	var names []string
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == extension {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("guide: list the documents: %w", err)
	}
	return names, nil
}

// sorted sorts the pages into kinds. The order of a kind is that of the links in its
// index, or in the index of all if it has none; pages that no index names come last.
func sorted(all []*page, byFile map[string]*page) []*kind {
	byDir := map[string]*kind{}
	var in []*kind
	add := func(k kind) {
		k.Path = Root + k.Dir + "/"
		byDir[k.Dir] = &k
		in = append(in, &k)
	}
	for _, k := range kinds {
		add(k)
	}
	for _, p := range all {
		if dir, name := path.Split(p.File); dir != "" {
			dir = strings.TrimSuffix(dir, "/")
			if byDir[dir] == nil {
				add(kind{Dir: dir, Label: strings.ToUpper(dir[:1]) + dir[1:]})
			}
			p.Kind = byDir[dir]
			if name == "README.md" {
				p.Kind.Index = p
			}
		}
	}
	in = slices.DeleteFunc(in, func(k *kind) bool {
		index := byFile[k.Dir+"/README.md"]
		k.Pages = inOrder(all, k, mentions(index, byFile), mentions(byFile["README.md"], byFile))
		link(k)
		return len(k.Pages) == 0
	})
	return in
}

// inOrder returns the pages of a kind in the order of the lists that mention them, and
// takes what they say about each.
func inOrder(all []*page, k *kind, lists ...[]mention) []*page {
	var pages []*page
	for _, list := range lists {
		for _, m := range list {
			if m.page.Kind != k || m.page == k.Index {
				continue
			}
			if m.page.Summary == "" && m.text != m.page.Title {
				m.page.Summary = m.text
			}
			if !slices.Contains(pages, m.page) {
				m.page.Group = m.group
				pages = append(pages, m.page)
			}
		}
	}
	for _, p := range all {
		if p.Kind == k && p != k.Index && !slices.Contains(pages, p) {
			pages = append(pages, p)
		}
	}
	return pages
}

// link gives each page of a kind the ones before and after it.
func link(k *kind) {
	for i, p := range k.Pages {
		if i > 0 {
			p.Prev = k.Pages[i-1]
		}
		if i+1 < len(k.Pages) {
			p.Next = k.Pages[i+1]
		}
	}
}
