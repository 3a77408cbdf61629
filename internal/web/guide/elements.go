package guide

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// elements renders what the pages show in their own way: headings with a link to
// themselves, code with a copy button, tables that scroll, and pictures.
type elements struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (e elements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, e.heading)
	r.Register(ast.KindFencedCodeBlock, e.code)
	r.Register(ast.KindCodeBlock, e.code)
	r.Register(ast.KindImage, e.picture)
	r.Register(ast.KindHTMLBlock, e.source)
	r.Register(ast.KindRawHTML, e.source)
	r.Register(extast.KindTable, e.table)
}

func (elements) heading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h, ok := n.(*ast.Heading)
	if !ok {
		return ast.WalkContinue, nil
	}
	anchor := template.HTMLEscapeString(anchorOf(h))
	switch {
	case entering && h.Level == 1:
		_, _ = w.WriteString("<h1>")
	case entering:
		_, _ = fmt.Fprintf(w, `<h%d id="%s">`, h.Level, anchor)
	case h.Level == 1:
		_, _ = w.WriteString("</h1>\n")
	default: // a pointer for the mouse only: the table of contents has the same links
		_, _ = fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-hidden="true" tabindex="-1">#</a></h%d>`+"\n", anchor, h.Level)
	}
	return ast.WalkContinue, nil
}

// code writes a block of code. The id of a block is its place in the document, so that
// the same document gives the same bytes.
func (elements) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	id := 0
	if n.Lines().Len() > 0 {
		id = n.Lines().At(0).Start
	}
	writeCode(w, fmt.Sprintf("code-%d", id), language, string(linesOf(n, source)))
	return ast.WalkSkipChildren, nil
}

func writeCode(w util.BufWriter, id, language, text string) {
	_, _ = fmt.Fprintf(w, `<div class="code"><pre id="%s" tabindex="0"><code>%s</code></pre>`, id, highlight(language, text))
	_, _ = fmt.Fprintf(w, `<button class="copy" type="button" data-copy="%s" hidden>Copy<span class="visually-hidden"> code</span></button></div>`+"\n", id)
}

func (elements) picture(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	image, ok := n.(*ast.Image)
	if !ok || !entering {
		return ast.WalkSkipChildren, nil
	}
	size, _ := image.AttributeString("size")
	_, _ = fmt.Fprintf(w, `<img class="picture" src="%s" alt="%s" loading="lazy"%v>`,
		template.HTMLEscapeString(string(image.Destination)), template.HTMLEscapeString(plain(n, source)), size)
	return ast.WalkSkipChildren, nil
}

// source writes HTML of a document as text: the pages have none but what is made here,
// except for line breaks. Comments are left out.
func (elements) source(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	var text []byte
	switch n := n.(type) {
	case *ast.RawHTML:
		text = n.Segments.Value(source)
	default:
		text = linesOf(n, source)
	}
	switch {
	case bytes.Equal(text, []byte("<br>")): // the only way to break a line in a table
		_, _ = w.WriteString("<br>")
	case !bytes.HasPrefix(text, []byte("<!--")):
		template.HTMLEscape(w, text)
	}
	return ast.WalkSkipChildren, nil
}

func (elements) table(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="table-frame" tabindex="0"><table`)
		html.RenderAttributes(w, n, nil)
		_, _ = w.WriteString(">\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("</table></div>\n")
	return ast.WalkContinue, nil
}
