package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
)

// Manual returns the manual of a tree of commands, each page by the name of its
// file: one for the program, and one for every command below it with all that is
// below that. A single page would have thousands of lines, and a page for each of
// more than a hundred commands would tear apart what belongs together.
func Manual(root *cobra.Command, version string, date time.Time) map[string]string {
	pages := map[string]string{"lineproof.1": mainPage(root, version, date)}
	for _, cmd := range root.Commands() {
		if isTopic(cmd) {
			continue
		}
		pages[pageName(cmd)+".1"] = commandPage(cmd, version, date)
	}
	return pages
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// isTopic reports whether cmd only has a text, such as that on exit codes.
func isTopic(cmd *cobra.Command) bool { return !cmd.Runnable() && !cmd.HasSubCommands() }

// page is a page in the language of man(7).
type page struct{ strings.Builder }

func (p *page) begin(name, short, version string, date time.Time) {
	p.line(`.TH %s 1 %s "lineproof %s" Lineproof`, strings.ToUpper(name), date.UTC().Format(time.DateOnly), version)
	p.line(".SH NAME\n%s \\- %s", dashes(name), escaped(strings.ToLower(short[:1])+short[1:]))
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes paragraphs. One with an indented line keeps its lines.
func (p *page) text(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		p.line(".PP")
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			p.literal(paragraph)
			continue
		}
		p.line("%s", escaped(paragraph))
	}
}

// literal writes lines as they are.
func (p *page) literal(text string) {
	p.line(".nf\n%s\n.fi", dashes(strings.Trim(text, "\n")))
}

func mainPage(root *cobra.Command, version string, date time.Time) string {
	p := &page{}
	p.begin("lineproof", root.Short, version, date)
	p.line(".SH SYNOPSIS\n.B lineproof\n.I COMMAND\n.RI [ flags ]\n.SH DESCRIPTION")
	p.text(root.Long)
	p.line(".SH COMMANDS\n.PP\nEach has a page of its own.")
	for _, cmd := range root.Commands() {
		if !isTopic(cmd) {
			p.line(".TP\n.BR %s (1)\n%s", dashes(pageName(cmd)), escaped(cmd.Short))
		}
	}
	p.line(".SH EXIT STATUS")
	for _, e := range console.ExitCodes {
		p.line(".TP\n.B %d\n%s", e.Code, escaped(e.Meaning))
	}
	p.line(".SH FILES")
	p.line(".TP\n.I /etc/lineproof/lineproof.env\nThe settings of the service, with what they mean.")
	p.line(".TP\n.I /var/lib/lineproof\nThe files of the service, the pepper among them, if it is not a setting.")
	p.line(".SH NOTES\n.PP\n.B lineproof\\-admin\n.I COMMAND\nruns a command with the settings and as the user of the service. Only root may.")
	return p.String()
}

func commandPage(cmd *cobra.Command, version string, date time.Time) string {
	p := &page{}
	p.begin(pageName(cmd), cmd.Short, version, date)
	p.line(".SH SYNOPSIS")
	runnable := runnableOf(cmd)
	for _, c := range runnable {
		p.line(".B %s\n.br", dashes(c.UseLine()))
	}
	p.line(".SH DESCRIPTION")
	p.text(cmd.Long)
	for _, c := range runnable {
		if c == cmd {
			p.details(c, ".SH OPTIONS", ".SH EXAMPLES")
			continue
		}
		p.line(".SH %s", dashes(c.CommandPath()))
		p.text(c.Long)
		p.details(c, ".SS Options", ".SS Examples")
	}
	p.line(".SH EXIT STATUS\n.PP\nSee\n.BR lineproof (1).\n.SH SEE ALSO\n.BR lineproof (1)")
	return p.String()
}

func (p *page) details(cmd *cobra.Command, options, examples string) {
	if flags := cmd.LocalFlags().FlagUsagesWrapped(100) + cmd.InheritedFlags().FlagUsagesWrapped(100); flags != "" {
		p.line("%s", options)
		p.literal(flags)
	}
	if cmd.Example != "" {
		p.line("%s", examples)
		p.literal(cmd.Example)
	}
}

// runnableOf returns the commands of a tree that do something, in its order.
func runnableOf(cmd *cobra.Command) (all []*cobra.Command) {
	if cmd.Runnable() {
		all = append(all, cmd)
	}
	for _, sub := range cmd.Commands() {
		all = append(all, runnableOf(sub)...)
	}
	return all
}

// escaped returns text as man(7) wants it: a backslash is written out, and no line
// begins with what would make it a request.
func escaped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, `\`, `\e`)) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`)
		}
		b.WriteString(line)
	}
	return b.String()
}

// dashes is escaped for what people copy: hyphens stay hyphens, and quotes quotes.
func dashes(text string) string {
	return strings.NewReplacer("-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(escaped(text))
}
