package kit

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	rectShape = regexp.MustCompile(`<rect class="([^"]*)" x="([0-9.]+)" y="([0-9.-]+)" width="([0-9.]+)" height="([0-9.]+)"><title>([^<]*)</title>`)
	lineShape = regexp.MustCompile(`<line class="axis" x1="0" x2="720" y1="([0-9.]+)"`)
	valueText = regexp.MustCompile(`<div class="chart-values" aria-hidden="true">(.*?)</div>`)
	datesText = regexp.MustCompile(`<div class="chart-dates[^>]*>(.*?)</div>`)
	spanText  = regexp.MustCompile(`<span>([^<]*)</span>`)
)

func texts(t *testing.T, of *regexp.Regexp, html string) (list []string) {
	t.Helper()
	part := of.FindStringSubmatch(html)
	if part == nil {
		t.Fatalf("no %s in the chart", of)
	}
	for _, m := range spanText.FindAllStringSubmatch(part[1], -1) {
		list = append(list, m[1])
	}
	return list
}

// With any number of points, and with a value ten thousand times the others, a chart says
// every value in its table, draws every value that is not 0 so that it can be seen, stays
// within its frame, keeps the heights of its bars true, and has no label over another.
func TestChartsWithAnyNumberOfPoints(t *testing.T) {
	t.Parallel()
	for _, points := range []int{0, 1, 2, 30, 365} {
		for _, peak := range []int64{0, 1, 7, 70_000} { // 0: no value at all
			name := fmt.Sprintf("%d points, peak %d", points, peak)
			c := ChartData{Title: "Events", Unit: "events", None: "None.", Series: []string{"Applied", "Late", "Rejected"}}
			for i := range points {
				values := []int64{0, 0, 0}
				switch {
				case peak > 0 && i == points/2:
					values = []int64{peak, 1, 1}
				case peak > 0 && i%2 == 0:
					values = []int64{3, 0, 4}
				}
				c.Bars = append(c.Bars, Bar{Label: "day" + strconv.Itoa(i), Values: values})
			}
			var b bytes.Buffer
			if err := BarChart(c).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			html := b.String()
			if points == 0 || peak == 0 {
				if !strings.Contains(html, "None.") || strings.Contains(html, "<svg") {
					t.Errorf("%s: drawn, although there is nothing to draw", name)
				}
				continue
			}
			checkTable(t, name, html, c)
			checkBars(t, name, html, c)
			checkLabels(t, name, html, points)
		}
	}
}

// checkTable checks that the table has every value.
func checkTable(t *testing.T, name, html string, c ChartData) {
	t.Helper()
	if n := strings.Count(html, `<th scope="row">`); n != len(c.Bars) {
		t.Errorf("%s: the table has %d rows", name, n)
	}
	for _, b := range c.Bars {
		var row strings.Builder
		row.WriteString(`<th scope="row">` + b.Label + `</th>`)
		for i, v := range b.Values {
			row.WriteString(`<td class="right" data-label="` + c.Series[i] + `">` + Count(v) + `</td>`)
		}
		if !strings.Contains(strings.ReplaceAll(html, "> <", "><"), row.String()) {
			t.Errorf("%s: the table does not have %s", name, b.Label)
		}
	}
}

// checkBars checks the shapes.
func checkBars(t *testing.T, name, html string, c ChartData) {
	t.Helper()
	drawn, heights := map[string]bool{}, map[string]float64{}
	for _, m := range rectShape.FindAllStringSubmatch(html, -1) {
		var n [4]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(m[i+2], 64)
		}
		x, y, wide, high := n[0], n[1], n[2], n[3]
		if x < 0 || y < -0.01 || x+wide > chartWide+0.01 || y+high > chartHigh+0.02 {
			t.Errorf("%s: %s is outside of the frame", name, m[6])
		}
		if high < 0.66 || wide < 1 {
			t.Errorf("%s: %s is %.2f by %.2f and cannot be seen", name, m[6], wide, high)
		}
		drawn[m[6]] = true
		day, _, _ := strings.Cut(m[6], ",")
		heights[day] += high
	}
	top := float64(axisTop(highest(c)))
	for _, b := range c.Bars {
		want := 0.0
		for i, v := range b.Values {
			if v > 0 && !drawn[b.Label+", "+c.Series[i]+": "+Count(v)] {
				t.Errorf("%s: %s of %s is not drawn", name, c.Series[i], b.Label)
			}
		}
		if sum := total(b); sum > 0 {
			want = max(float64(sum)/top*chartHigh, leastHigh)
		}
		if math.Abs(heights[b.Label]-want) > 0.03 {
			t.Errorf("%s: the bar of %s is %.2f high, want %.2f", name, b.Label, heights[b.Label], want)
		}
	}
}

// checkLabels checks that the labels of both axes have room.
func checkLabels(t *testing.T, name, html string, points int) {
	t.Helper()
	lines := lineShape.FindAllStringSubmatch(html, -1)
	values := texts(t, valueText, html)
	if len(values) != len(lines) || len(values) < 2 || len(slices.Compact(slices.Clone(values))) != len(values) {
		t.Errorf("%s: the axis of values has %q for %d lines", name, values, len(lines))
	}
	for i := 1; i < len(lines); i++ {
		a, _ := strconv.ParseFloat(lines[i-1][1], 64)
		b, _ := strconv.ParseFloat(lines[i][1], 64)
		if b-a < 20 { // the height of a line of text
			t.Errorf("%s: two values of the axis are %.1f apart", name, b-a)
		}
	}
	dates := texts(t, datesText, html)
	if len(dates) != min(points, maxDates) || len(slices.Compact(slices.Clone(dates))) != len(dates) {
		t.Errorf("%s: the dates are %q", name, dates)
	}
	room := 0
	for _, d := range dates {
		room += 8*len(d) + 8
	}
	if room > chartWide/2 {
		t.Errorf("%s: the dates need %d units", name, room)
	}
}
