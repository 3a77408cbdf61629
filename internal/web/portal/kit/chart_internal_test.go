package kit

import (
	"slices"
	"testing"
)

// The axis ends at a round number that is not below the highest bar, and its lines are at
// whole numbers.
func TestAxisIsRound(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int64{0: 0, 1: 1, 2: 2, 3: 4, 4: 4, 5: 10, 11: 20, 21: 40, 41: 100, 98_401: 100_000, 1_000_001: 2_000_000} {
		if got := axisTop(n); got != want {
			t.Errorf("the axis of %d ends at %d, want %d", n, got, want)
		}
	}
	c := ChartData{Series: []string{"a"}, Bars: []Bar{{"1 Jan", []int64{1}}}}
	if got := c.ticks(); len(got) != 2 || got[0].label != "1" || got[1].label != "0" {
		t.Errorf("the axis of 1 is %+v", got)
	}
	c.Bars[0].Values[0] = 37
	if got := c.ticks(); len(got) != 5 || got[0].label != "40" || got[3].label != "10" {
		t.Errorf("the axis of 37 is %+v", got)
	}
}

// Beside a bar that is ten thousand times as high, a small one is still seen, every other
// bar is as high as its total, and a value that is missing draws nothing.
func TestSmallValuesAreSeen(t *testing.T) {
	t.Parallel()
	c := ChartData{Series: []string{"a", "b"}, Bars: []Bar{{"1 Jan", []int64{1, 0}}, {"2 Jan", []int64{10_000, 1}}, {"3 Jan", []int64{NoData, NoData}}}}
	got := layoutBars(c)
	if len(got) != 3 {
		t.Fatalf("%d segments are drawn, want 3: %+v", len(got), got)
	}
	if got[0].high != leastHigh {
		t.Errorf("the small bar is %f high", got[0].high)
	}
	if high, want := got[1].high+got[2].high, 10_001.0/20_000*chartHigh; high < want-0.01 || high > want+0.01 {
		t.Errorf("the high bar is %f high, want %f", high, want)
	}
}

// Of many days a few are named below the chart, the first and the last among them.
func TestDatesBelowAChart(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 6, 7, 30, 365} {
		var c ChartData
		for i := range n {
			c.Bars = append(c.Bars, Bar{Label: string(rune('A' + i))})
		}
		labels := c.dates()
		if len(labels) != min(n, maxDates) || (n > 0 && (labels[0] != c.Bars[0].Label || labels[len(labels)-1] != c.Bars[n-1].Label)) || len(slices.Compact(labels)) != len(labels) {
			t.Errorf("of %d days %v are named", n, labels)
		}
	}
}
