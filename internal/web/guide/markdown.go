package guide

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads CommonMark with tables, as the usual viewers of a repository do.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // the policy of the pages forbids inline styles
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(elements{}, 100))),
)

func parse(source []byte) ast.Node {
	return markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
}

// anchors names headings as the usual viewers do, so that a link to a heading works in
// both.
type anchors struct{ taken map[string]int }

func (a *anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	if a.taken == nil {
		a.taken = map[string]int{}
	}
	n := a.taken[name]
	a.taken[name]++
	if n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	return []byte(name)
}

// Put is for headings that state their own name; none does.
func (a *anchors) Put([]byte) {}

// sectionsOf returns the parts of a page, the first of which has its title.
func sectionsOf(p *page) []section {
	all := []section{{Level: 1, Heading: p.File}}
	var words strings.Builder
	end := func() {
		all[len(all)-1].text = strings.Join(strings.Fields(words.String()), " ")
		words.Reset()
	}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		all[len(all)-1].terms = append(all[len(all)-1].terms, termsOf(n, p.source)...)
		h, ok := n.(*ast.Heading)
		switch {
		case ok && h.Level == 1:
			all[0].Heading = plain(n, p.source)
		case ok:
			end()
			all = append(all, section{Level: h.Level, Anchor: anchorOf(h), Heading: plain(n, p.source)})
		default:
			words.WriteString(plain(n, p.source))
			words.WriteByte(' ')
		}
	}
	end()
	return all
}

// termsOf returns what a table defines: the codes in the first cells of its rows.
func termsOf(n ast.Node, source []byte) []string {
	if n.Kind() != extast.KindTable {
		return nil
	}
	var terms []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		if cell := row.FirstChild(); cell != nil && cell.FirstChild() != nil && cell.FirstChild().Kind() == ast.KindCodeSpan {
			terms = append(terms, plain(cell, source))
		}
	}
	return terms
}

func anchorOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	name, _ := id.([]byte)
	return string(name)
}

// plain returns the text of a node without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(linesOf(n, source))
			}
		}
		if n.Type() == ast.TypeBlock || n.Kind() == extast.KindTableCell {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

func linesOf(n ast.Node, source []byte) []byte {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.Bytes()
}

// mention is a link to a page in a list or table of an index.
type mention struct {
	page        *page
	text, group string
}

// mentions returns the links of an index to other pages, with what the row or the item
// says about each. A row of several links says nothing about one of them.
func mentions(index *page, byFile map[string]*page) []mention {
	if index == nil {
		return nil
	}
	var all []mention
	group := ""
	_ = ast.Walk(index.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if h, ok := n.(*ast.Heading); ok && entering && h.Level == 2 {
			group = plain(h, index.source)
		}
		if l, ok := n.(*ast.Link); ok && entering {
			file, _, _ := strings.Cut(string(l.Destination), "#")
			if p := byFile[path.Join(path.Dir(index.File), file)]; p != nil && p != index {
				all = append(all, mention{page: p, text: aboutLink(l, index.source), group: group})
			}
		}
		return ast.WalkContinue, nil
	})
	return all
}

// aboutLink returns the text of the row or the item of a list in which a link stands
// alone, without the text of the link.
func aboutLink(l *ast.Link, source []byte) string {
	for n := l.Parent(); n != nil; n = n.Parent() {
		switch n.Kind() {
		case extast.KindTableRow, ast.KindListItem:
			if countLinks(n) > 1 {
				return ""
			}
			said := strings.Join(strings.Fields(strings.Replace(plain(n, source), plain(l, source), "", 1)), " ")
			said = strings.TrimPrefix(strings.TrimLeft(said, ":, "), "learn: ")
			return strings.ToUpper(said[:min(1, len(said))]) + said[min(1, len(said)):]
		}
	}
	return ""
}

func countLinks(n ast.Node) int {
	count := 0
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering && n.Kind() == ast.KindLink {
			count++
		}
		return ast.WalkContinue, nil
	})
	return count
}
