package kit

import (
	"strconv"
	"strings"
)

// The size of a chart in its own units; the page scales it.
const (
	chartWide = 720
	chartHigh = 160
	// leastHigh is the height of the smallest bar that is not 0: beside one that is ten
	// thousand times as high it would not be seen otherwise. The parts of a bar have their
	// true share of it, so that no bar looks higher than its total.
	leastHigh = 2
	// leastPart is the height of the smallest part of a bar that is high enough for it. The
	// largest part gives it, so that the bar is as high as its total.
	leastPart = 1.5
)

// maxSeries is how many series have a colour by their place.
const maxSeries = 6

// block is one segment of a bar, with its position.
type block struct {
	series           int
	x, y, wide, high float64
	title            string
}

// layoutBars places the segments of all bars, the first series at the bottom.
func layoutBars(c ChartData) []block {
	top := axisTop(highest(c))
	if top == 0 || len(c.Bars) == 0 {
		return nil
	}
	step := float64(chartWide) / float64(len(c.Bars))
	var all []block
	for i, b := range c.Bars {
		y, sum := float64(chartHigh), total(b)
		whole := max(float64(sum)/float64(top)*chartHigh, leastHigh)
		parts := partHeights(b, whole)
		for s, v := range b.Values {
			if v <= 0 || s >= len(c.Series) {
				continue
			}
			high := parts[s]
			y -= high
			all = append(all, block{
				series: s, x: float64(i)*step + step*0.15, y: y, wide: step * 0.7, high: high, title: b.Label + ", " + c.Series[s] + ": " + Count(v),
			})
		}
	}
	return all
}

// partHeights divides the height of a bar among its values. A value that is not 0 is seen,
// however small its share is.
func partHeights(b Bar, whole float64) []float64 {
	heights := make([]float64, len(b.Values))
	largest, parts, sum := 0, 0, total(b)
	for i, v := range b.Values {
		if v > 0 {
			parts++
		}
		if v > b.Values[largest] {
			largest = i
		}
	}
	least := min(leastPart, whole/float64(max(parts, 1)))
	given := 0.0
	for i, v := range b.Values {
		if v <= 0 || i == largest {
			continue
		}
		heights[i] = max(float64(v)/float64(sum)*whole, least)
		given += heights[i]
	}
	heights[largest] = max(whole-given, 0)
	return heights
}

// highest is the total of the highest bar.
func highest(c ChartData) (top int64) {
	for _, b := range c.Bars {
		top = max(top, total(b))
	}
	return top
}

// total is the sum of the values of a bar.
func total(b Bar) (sum int64) {
	for _, v := range b.Values {
		sum += max(v, 0)
	}
	return sum
}

// axisTop is the value at the top of the axis: the lowest of 1, 2, 4, 10, 20, 40 and so on
// that is not below n, so that a half and a quarter of it are round numbers, too.
func axisTop(n int64) int64 {
	if n <= 0 {
		return 0
	}
	for unit := int64(1); ; unit *= 10 {
		for _, times := range []int64{1, 2, 4} {
			if unit*times >= n {
				return unit * times
			}
		}
	}
}

// tick is a line of the axis of values.
type tick struct {
	label string
	y     float64
}

// ticks returns the lines of the axis of values, from the top: its half, and its quarters
// where these are whole numbers.
func (c ChartData) ticks() []tick {
	top := axisTop(highest(c))
	parts := int64(4)
	for top%parts != 0 {
		parts /= 2
	}
	var all []tick
	for i := parts; i > 0; i-- {
		all = append(all, tick{Count(top * i / parts), chartHigh * (1 - float64(i)/float64(parts))})
	}
	return append(all, tick{"0", chartHigh})
}

// maxDates is how many dates stand below a chart.
const maxDates = 6

// dates returns the labels below a chart: all, or a few at equal distances.
func (c ChartData) dates() (labels []string) {
	if len(c.Bars) <= maxDates {
		for _, b := range c.Bars {
			labels = append(labels, b.Label)
		}
		return labels
	}
	for i := range maxDates {
		labels = append(labels, c.Bars[i*(len(c.Bars)-1)/(maxDates-1)].Label)
	}
	return labels
}

func (c ChartData) class(series int) string {
	if series < len(c.Classes) {
		return c.Classes[series]
	}
	if c.Rest && series == len(c.Series)-1 {
		return "series-rest"
	}
	if series < len(c.Colours) {
		series = c.Colours[series]
	}
	return "series-" + strconv.Itoa(series%maxSeries)
}

// StatusClass returns the class of the colour that a status has in every chart.
func StatusClass(status string) string {
	return "status-" + strings.ToLower(strings.ReplaceAll(status, "_", "-"))
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// tableValue is a value in the table below a chart.
func tableValue(n int64) string {
	if n == NoData {
		return "no data"
	}
	return Count(n)
}
