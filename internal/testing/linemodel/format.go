package linemodel

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
)

var outcomeWords = []string{"Applied", "NoEffect", "GaveWay", "Blocked", "Voided", "NotYet", "Waiting", "Held"}

// Minimize drops from a history whatever it can while it stays wrong.
func Minimize(h *line.History, wrong func(*line.History) bool) *line.History {
	for shorter := true; shorter; {
		shorter = false
		for i := 0; i < len(h.Events); i++ {
			if fewer := without(h, i); wrong(fewer) {
				h, shorter = fewer, true
				i--
			}
		}
		restated := slices.ContainsFunc(h.Events, func(e line.Event) bool { return e.Kind == line.Restate })
		if fewer := (&line.History{Events: h.Events}); h.Base != nil && !restated && wrong(fewer) {
			h, shorter = fewer, true
		}
	}
	return h
}

// without drops an event, and what is about it.
func without(h *line.History, i int) *line.History {
	gone := map[int64]bool{h.Events[i].Seq: true}
	fewer := &line.History{Base: h.Base}
	for again := true; again; {
		again = false
		for _, e := range h.Events {
			if e.Target != 0 && gone[e.Target] && !gone[e.Seq] {
				gone[e.Seq], again = true, true
			}
		}
	}
	for _, e := range h.Events {
		if !gone[e.Seq] {
			fewer.Events = append(fewer.Events, e)
		}
	}
	return fewer
}

// Format writes a history in lines, in the order of effect. With outcomes it marks
// where they differ.
func Format(h *line.History, want, got []line.Outcome) string {
	var lines []string
	if h.Base != nil {
		lines = append(lines, "  baseline "+formatBase(h.Base))
	}
	order := make([]int, len(h.Events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(h.Events[a].Effective) - int(h.Events[b].Effective) })
	for _, i := range order {
		text := "  " + formatEvent(&h.Events[i])
		if want != nil && want[i] != got[i] {
			text += fmt.Sprintf("   <<< -%s +%s", outcomeWords[want[i]], outcomeWords[got[i]])
		} else if want != nil {
			text += "   " + outcomeWords[want[i]]
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func formatBase(b *line.Baseline) string {
	return fmt.Sprintf("of %d: tenure %s SIM %s %s since %s until %s bits %08b", b.Network, at(b.Tenure), at(b.SIM), b.State, at(b.StateSince),
		at(b.Until), b.Bits)
}

// at writes an instant as day and second, for example 3d+1.
func at(i line.Instant) string {
	switch {
	case i == line.Never:
		return "-"
	case i == line.Forever:
		return "forever"
	case i < 0:
		return strconv.Itoa(int(i))
	}
	return fmt.Sprintf("%dd+%d", i/day, i%day)
}

func formatEvent(e *line.Event) string {
	s := fmt.Sprintf("#%d %s %s", e.Seq, at(e.Effective), e.Kind)
	switch e.Authority {
	case line.Operator:
		s += fmt.Sprintf(" by %d", e.Network)
	case line.Sector:
		s += fmt.Sprintf(" by sector %d", e.Supplier)
	default:
		s += " by " + e.Authority.String()
	}
	add := func(on bool, format string, values ...any) {
		if on {
			s += fmt.Sprintf(" "+format, values...)
		}
	}
	add(e.Peer != 0, "to %d", e.Peer)
	add(e.Target != 0, "of #%d", e.Target)
	add(e.Code != 0, "%s", e.Code)
	add(e.Day, "DAY")
	add(e.Number, "on NUMBER")
	add(e.First, "FIRST")
	add(e.Outside, "OUTSIDE")
	add(e.Hold != 0, "HELD(%s)", e.Hold)
	add(e.Until != line.Never, "until %s", at(e.Until))
	add(e.EndedAfter != line.Never, "after %s", at(e.EndedAfter))
	add(e.Base != nil, "[%s]", formatBaseOf(e))
	return s + ", reported " + at(line.InstantOf(e.ReportedAt))
}

func formatBaseOf(e *line.Event) string {
	if e.Base == nil {
		return ""
	}
	return formatBase(e.Base)
}

// FormatRow returns the fields of a row that say something, one in each line.
func FormatRow(r line.Row) (fields []string) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		switch value := v.Field(i).Interface().(type) {
		case line.Instant:
			if value != line.Never {
				fields = append(fields, v.Type().Field(i).Name+" "+at(value))
			}
		case line.Bits:
			fields = append(fields, fmt.Sprintf("Bits %08b", value))
		default:
			fields = append(fields, fmt.Sprintf("%s %v", v.Type().Field(i).Name, value))
		}
	}
	return fields
}
