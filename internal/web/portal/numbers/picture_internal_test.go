package numbers

import (
	"testing"
	"time"
)

// A span that began a moment ago is wide enough to be seen, ends within the picture, and has
// its label beside it; one between two others keeps to its own room.
func TestShortSpansCanBeRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const day = 24 * time.Hour
	d := PictureData{From: ago(100 * day), To: now, Lanes: []PictureLane{
		{Name: "Bars", Spans: []PictureSpan{{Label: "FRAUD", Start: ago(time.Minute), Adverse: true}}},
		{Name: "SIM", Spans: []PictureSpan{
			{Label: "SIM 1", Start: ago(90 * day), End: ago(50 * day)}, {Label: "SIM 2", Start: ago(50 * day), End: ago(50*day - time.Hour)}, {Label: "SIM 3", Start: ago(50*day - time.Hour)},
		}},
		{Name: "Flags", Spans: []PictureSpan{{Label: "LOW", Start: ago(95 * day), End: ago(94*day + 23*time.Hour)}}},
	}}
	all := d.bars()
	for _, b := range all {
		if b.wide < minSpan || b.x < laneLeft || b.x+b.wide > laneRight {
			t.Errorf("%s is drawn from %.1f to %.1f", b.Label, b.x, b.x+b.wide)
		}
	}
	if bar := all[0]; bar.text != "FRAUD" || !bar.before || bar.textX >= bar.x {
		t.Errorf("the bar of today has %q at %.1f, before it: %v", bar.text, bar.textX, bar.before)
	}
	if short := all[2]; short.text != "" {
		t.Errorf("%q is written over its neighbours", short.text)
	}
	if flag := all[4]; flag.text != "LOW" || flag.before || flag.textX <= flag.x+flag.wide {
		t.Errorf("the flag has %q at %.1f", flag.text, flag.textX)
	}
	if long := all[1]; long.text != "SIM 1" || long.textX >= long.x+long.wide {
		t.Errorf("a long span has %q at %.1f", long.text, long.textX)
	}
}
