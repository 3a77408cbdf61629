package numbers

import (
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// PictureData is the history of a number as a picture: spans of time in lanes, and marks
// of the events.
type PictureData struct {
	From, To time.Time // the first time that is shown, and the last
	Lanes    []PictureLane
	Marks    []PictureMark // the oldest first
}

// PictureLane is one fact about the number over time.
type PictureLane struct {
	Name  string
	Spans []PictureSpan
}

// PictureSpan is a time during which the fact was the same.
type PictureSpan struct {
	Label      string
	Start, End time.Time // zero: not known since when; still so
	Adverse    bool      // a bar or a flag: hatched
}

// PictureMark is an event.
type PictureMark struct {
	Seq             int64
	Label, By       string
	At, Reported    time.Time
	Open, Withdrawn bool // it is held or in conflict; it was withdrawn
	Outcome         string
}

// sign is the character that marks the event, so that nothing depends on a colour.
func (m PictureMark) sign() string {
	switch {
	case m.Withdrawn:
		return "×"
	case m.Open:
		return "!"
	}
	return "•"
}

func (m PictureMark) state() string {
	switch {
	case m.Withdrawn:
		return "Withdrawn"
	case m.Open:
		return "Open: " + m.Outcome
	}
	return m.Outcome
}

// The measures of the picture in its own units; the page scales it.
const (
	pictureWide = 960
	laneLeft    = 92  // where the lanes begin, beside their names
	laneRight   = 952 // where they end: now
	laneTop     = 8
	laneHigh    = 32
	laneStep    = 42
	letterWide  = 7.8 // about the width of a letter
	minSpan     = 12  // the width of a short span, so that it is seen and can be pointed at
	axisSteps   = 6
	squareSide  = 420 // of the picture with two axes
	squareLeft  = 96
)

// place returns where a time is between two ends.
func place(at, from, to time.Time, low, high float64) float64 {
	all := to.Sub(from).Seconds()
	if all <= 0 {
		return low
	}
	return low + min(max(at.Sub(from).Seconds()/all, 0), 1)*(high-low)
}

func (d *PictureData) x(at time.Time) float64 {
	return place(at, d.From, d.To, laneLeft, laneRight)
}

// bar is a span as it is drawn.
type bar struct {
	PictureSpan

	x, y, wide  float64
	text, title string // the text that fits into it, or beside it
	textX       float64
	before      bool // the text ends at textX
	open        bool // its start is not known
}

// bars places the spans of all lanes.
func (d *PictureData) bars() (all []bar) {
	for i, lane := range d.Lanes {
		for j, s := range lane.Spans {
			b := bar{PictureSpan: s, x: laneLeft, y: float64(laneTop + i*laneStep), title: lane.Name + ": " + s.Label + ", " + spanTimes(s), open: s.Start.IsZero()}
			end := d.To
			if !s.Start.IsZero() {
				b.x = d.x(s.Start)
			}
			if !s.End.IsZero() {
				end = s.End
			}
			b.wide = max(d.x(end)-b.x, minSpan)
			b.x = min(b.x, laneRight-b.wide) // a short span of today ends now, and not behind it
			b.write(d.free(lane.Spans, j))
			all = append(all, b)
		}
	}
	return all
}

// free returns the room before and after a span, up to its neighbours in the lane.
func (d *PictureData) free(spans []PictureSpan, i int) (from, to float64) {
	from, to = laneLeft, laneRight
	if i > 0 && !spans[i-1].End.IsZero() {
		from = max(from, d.x(spans[i-1].End)+minSpan)
	}
	if i+1 < len(spans) {
		to = d.x(spans[i+1].Start)
	}
	return from, to
}

// write puts the label into the bar, else after or before it where there is room, else as
// much of it into the bar as fits.
func (b *bar) write(from, to float64) {
	label := []rune(b.Label)
	need, room := float64(len(label))*letterWide+12, int((b.wide-12)/letterWide)
	b.text, b.textX = b.Label, b.x+6
	switch {
	case need <= b.wide:
	case b.x+b.wide+need <= to:
		b.textX = b.x + b.wide + 6
	case b.x-need >= from:
		b.textX, b.before = b.x-6, true
	case room >= 4:
		b.text = string(label[:room-1]) + "…"
	default:
		b.text = ""
	}
}

func spanTimes(s PictureSpan) string {
	start, end := "from an unknown time", "until now"
	if !s.Start.IsZero() {
		start = "from " + kit.Stamp(s.Start)
	}
	if !s.End.IsZero() {
		end = "to " + kit.Stamp(s.End)
	}
	return start + " " + end
}

// tick is a date on an axis.
type tick struct {
	at    float64
	label string
}

// ticks returns the dates on an axis between two places.
func (d *PictureData) ticks(low, high float64, steps int) (all []tick) {
	form := "2 Jan 2006"
	if d.To.Sub(d.From) < 48*time.Hour {
		form = "2 Jan 15:04"
	}
	for i := range steps {
		at := d.From.Add(time.Duration(float64(d.To.Sub(d.From)) * float64(i) / float64(steps-1)))
		all = append(all, tick{low + float64(i)*(high-low)/float64(steps-1), at.UTC().Format(form)})
	}
	return all
}

// point is an event in the picture with two axes: what was true across, what was known
// upwards.
type point struct {
	PictureMark

	x, y float64
}

func (d *PictureData) points() (all []point) {
	for _, m := range d.Marks {
		all = append(all, point{m, place(m.At, d.From, d.To, squareLeft, squareLeft+squareSide), place(m.Reported, d.From, d.To, squareSide, 0) + 12})
	}
	return all
}

func px(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func markRow(d *PictureData) float64 { return float64(laneTop + len(d.Lanes)*laneStep) }

func pictureHigh(d *PictureData) string {
	return strconv.Itoa(laneTop + (len(d.Lanes)+1)*laneStep + 26)
}
