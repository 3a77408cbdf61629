package guide

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	_ "image/png" // the format of the pictures
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// elsewhere are files outside docs/ that the service serves under another address.
var elsewhere = map[string]string{"../api/openapi.yaml": "/openapi.yaml"}

// emptyHead is a cell that heads no column, such as the corner of a table. Screen readers
// must not announce it as a heading.
var emptyHead = regexp.MustCompile(`<th( align="\w+")?></th>`)

// render makes the HTML of every page.
func render(all []*page, files fs.FS) error {
	byFile := map[string]*page{}
	for _, p := range all {
		byFile[p.File] = p
	}
	for _, p := range all {
		if err := resolve(p, byFile, files); err != nil {
			return fmt.Errorf("guide: %s: %w", p.File, err)
		}
		var b bytes.Buffer
		if err := markdown.Renderer().Render(&b, p.source, p.tree); err != nil {
			return fmt.Errorf("guide: render %s: %w", p.File, err)
		}
		body := emptyHead.ReplaceAllString(b.String(), "<td></td>")
		p.Body = template.HTML(body) //nolint:gosec // rendered from documents of this repository, in which HTML is shown as text
	}
	return nil
}

// resolve turns the links between documents into addresses. A link to a file that is not
// served, such as a source file, becomes its text.
func resolve(p *page, byFile map[string]*page, files fs.FS) error {
	var unserved []*ast.Link
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			return ast.WalkContinue, resolvePicture(n, p, files)
		case *ast.Link:
			to, served := resolveLink(string(n.Destination), p, byFile)
			if !served {
				unserved = append(unserved, n)
			}
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range unserved {
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, child)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	return err
}

// resolveLink returns the address of what a page links to. It reports false if that is
// not served.
func resolveLink(to string, p *page, byFile map[string]*page) (string, bool) {
	if strings.Contains(to, ":") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "/") {
		return to, true
	}
	file, anchor, has := strings.Cut(to, "#")
	file = path.Join(path.Dir(p.File), file)
	if at, ok := elsewhere[file]; ok {
		return at, true
	}
	target := byFile[file]
	if target == nil {
		return to, false
	}
	if has {
		return target.Path + "#" + anchor, true
	}
	return target.Path, true
}

func resolvePicture(n *ast.Image, p *page, files fs.FS) error {
	file := path.Join(path.Dir(p.File), string(n.Destination))
	content, err := fs.ReadFile(files, file)
	if err != nil {
		return fmt.Errorf("guide: read a picture: %w", err)
	}
	of, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("picture %s: %w", file, err)
	}
	// With it, the browser keeps the place of a picture that it has not loaded yet.
	size := template.HTMLAttr(fmt.Sprintf(` width="%d" height="%d"`, of.Width, of.Height)) //nolint:gosec // two numbers
	n.SetAttributeString("size", size)
	n.Destination = []byte(Root + file)
	return nil
}
