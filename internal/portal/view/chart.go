package view

import "strconv"

// The size of a chart in its own units; the page scales it.
const (
	chartWide = 720
	chartHigh = 160
)

// maxSeries is how many series have a colour of their own.
const maxSeries = 6

// block is one segment of a bar, with its position.
type block struct {
	series           int
	x, y, wide, high float64
	title            string
}

// layoutBars places the segments of all bars, the first series at the bottom.
func layoutBars(c ChartData) []block {
	top := highest(c)
	if top == 0 || len(c.Bars) == 0 {
		return nil
	}
	step := float64(chartWide) / float64(len(c.Bars))
	var all []block
	for i, b := range c.Bars {
		y := float64(chartHigh)
		for s, v := range b.Values {
			if v <= 0 || s >= len(c.Series) {
				continue
			}
			high := float64(v) / float64(top) * (chartHigh - 4)
			y -= high
			all = append(all, block{
				series: s, x: float64(i)*step + step*0.15, y: y, wide: step * 0.7, high: high, title: b.Label + ", " + c.Series[s] + ": " + Count(v),
			})
		}
	}
	return all
}

// highest is the total of the highest bar.
func highest(c ChartData) (top int64) {
	for _, b := range c.Bars {
		var sum int64
		for _, v := range b.Values {
			sum += max(v, 0)
		}
		top = max(top, sum)
	}
	return top
}

func (c ChartData) class(series int) string {
	if c.Rest && series == len(c.Series)-1 {
		return "series-rest"
	}
	if series < len(c.Colours) {
		series = c.Colours[series]
	}
	return "series-" + strconv.Itoa(series%maxSeries)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// tableValue is a value in the table below a chart.
func tableValue(n int64) string {
	if n == NoData {
		return "no data"
	}
	return Count(n)
}
