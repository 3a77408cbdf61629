package main

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// Dimensions of the chart, in its own units.
const (
	chartWidth = 760
	labelWidth = 210 // to the left of the bars
	barsWidth  = 420
	rowHeight  = 30
	barHeight  = 16
	panelHead  = 46
)

// style works on light and on dark pages: a chart that is shown as an image
// follows the reader's system theme.
const style = `
    text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
    .title { font-weight: 600; font-size: 14px; }
    .small { font-size: 12px; fill: #59636e; }
    .page { fill: #ffffff; }
    .track { fill: #eef1f4; }
    .rate { fill: #0969da; } .other { fill: #8c959f; } .service { fill: #0969da; } .postgres { fill: #bf5b04; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; } .small { fill: #9198a1; } .page { fill: #0d1117; } .track { fill: #1c2129; }
      .rate { fill: #4493f8; } .other { fill: #6e7681; } .service { fill: #4493f8; } .postgres { fill: #e0823d; }
    }
`

// piece is one segment of a bar.
type piece struct {
	class string
	value float64
}

// row is one bar of a panel.
type row struct {
	label  string
	pieces []piece
	value  string
}

func (r *row) sum() (all float64) {
	for _, p := range r.pieces {
		all += p.value
	}
	return all
}

// chart draws the comparison: requests per second, and which process uses the CPU
// of a request.
func (r *report) chart() string {
	var rates, costs []row
	for i := range r.Variants {
		f := &r.Variants[i]
		at := slices.IndexFunc(variants, func(v variant) bool { return v.name == f.Variant })
		label := fmt.Sprintf("%s, c=%d", variants[at].short, f.Clients)
		class := "other"
		if f.Variant == variantVerify {
			class = "rate"
		}
		rates = append(rates, row{label, []piece{{class, f.Rate.Median}}, grouped(f.Rate.Median)})
		parts := []piece{{"service", f.ServiceCPU.Median}, {"postgres", f.PostgresCPU.Median}}
		costs = append(costs, row{label, parts, fmt.Sprintf("%s + %s", cost(f.ServiceCPU), cost(f.PostgresCPU))})
	}
	panel := panelHead + rowHeight*len(rates)
	height := 2*panel + 56
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`,
		chartWidth, height, chartWidth, height)
	b.WriteString("\n  <title id=\"title\">Cost of a verification</title>\n  <desc id=\"desc\">")
	escape(&b, r.description())
	b.WriteString("</desc>\n  <style>" + style + "  </style>\n")
	fmt.Fprintf(&b, "  <rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", chartWidth, height)
	drawPanel(&b, 0, "Requests per second", rates)
	drawPanel(&b, panel, "CPU µs per request", costs)
	legend(&b, panel)
	for i, line := range []string{ // one line would be too wide
		fmt.Sprintf("%s, %d cores, PostgreSQL %s", r.When.Format("2006-01-02"), r.Machine.Cores, r.Machine.PostgreSQL),
		fmt.Sprintf("%s lines; medians of %d rounds; batches count rows", grouped(float64(r.Lines)), r.Rounds),
	} {
		fmt.Fprintf(&b, "  <text class=\"small\" x=\"16\" y=\"%d\">", height-32+18*i)
		escape(&b, line)
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawPanel draws one set of bars with its own scale.
func drawPanel(b *strings.Builder, top int, title string, rows []row) {
	fmt.Fprintf(b, "  <text class=\"title\" x=\"16\" y=\"%d\">", top+28)
	escape(b, title)
	b.WriteString("</text>\n")
	longest := 0.0
	for i := range rows {
		longest = max(longest, rows[i].sum())
	}
	for i := range rows {
		y := top + panelHead + i*rowHeight
		fmt.Fprintf(b, "  <text x=\"%d\" y=\"%d\" text-anchor=\"end\">", labelWidth-8, y+barHeight-3)
		escape(b, rows[i].label)
		fmt.Fprintf(b, "</text>\n  <rect class=\"track\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/>\n", labelWidth, y, barsWidth, barHeight)
		x := float64(labelWidth)
		for _, p := range rows[i].pieces {
			if p.value <= 0 || longest <= 0 {
				continue
			}
			width := p.value / longest * barsWidth
			fmt.Fprintf(b, "  <rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", p.class, x, y, width, barHeight)
			x += width
		}
		fmt.Fprintf(b, "  <text x=\"%d\" y=\"%d\">", labelWidth+barsWidth+10, y+barHeight-3)
		escape(b, rows[i].value)
		b.WriteString("</text>\n")
	}
}

// legend explains the colours of the processes.
func legend(b *strings.Builder, top int) {
	x := labelWidth
	for _, one := range [][2]string{{"service", "service"}, {"postgres", "PostgreSQL"}} {
		fmt.Fprintf(b, "  <rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>\n  <text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n",
			one[0], x, top+18, x+18, top+28, one[1])
		x += 90
	}
}

// description is the content of the chart as text, for screen readers.
func (r *report) description() string {
	parts := make([]string, len(r.Variants))
	for i := range r.Variants {
		f := &r.Variants[i]
		parts[i] = fmt.Sprintf("%s with %d callers: %s requests per second, %s µs of the service and %s µs of PostgreSQL per request",
			f.Variant, f.Clients, grouped(f.Rate.Median), cost(f.ServiceCPU), cost(f.PostgresCPU))
	}
	return strings.Join(parts, "; ")
}

func escape(b *strings.Builder, text string) { _ = xml.EscapeText(b, []byte(text)) } // a strings.Builder never fails
