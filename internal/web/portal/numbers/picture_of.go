package numbers

import (
	"time"

	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// pictureOf returns the history of a number as a picture that ends at a time.
func pictureOf(h *supply.History, events []EventRow, plan *numbering.Plan, end time.Time) PictureData {
	d := PictureData{From: end, To: end}
	earliest := func(at time.Time) {
		if !at.IsZero() && at.Before(d.From) {
			d.From = at
		}
	}
	for _, name := range linechange.Lanes {
		lane := PictureLane{Name: string(name)}
		for i := range h.Spans {
			s := &h.Spans[i]
			if s.Lane != name {
				continue
			}
			span := PictureSpan{Label: s.Label, Start: s.Start.Time(), End: s.End.Time(), Adverse: name == linechange.BarLane || name == linechange.FlagLane}
			if name == linechange.NetworkLane {
				span.Label = plan.Name(s.Network)
			}
			earliest(span.Start)
			earliest(span.End)
			lane.Spans = append(lane.Spans, span)
		}
		d.Lanes = append(d.Lanes, lane)
	}
	for i := range events {
		e := &events[i]
		if e.Effective.After(end) {
			continue
		}
		earliest(e.Effective)
		d.Marks = append(d.Marks, PictureMark{Seq: e.Seq, Label: e.Title, By: e.By, At: e.Effective, Reported: e.Reported, Open: e.Open, Withdrawn: e.Withdrawn, Outcome: e.Outcome})
	}
	d.From = d.From.Add(-max(end.Sub(d.From)/40, time.Hour)) // room before the first event
	return d
}
