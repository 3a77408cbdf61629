package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// display shows the progress in lines.
type display struct {
	out  io.Writer
	last time.Time // time of the last line
}

// printf prints one line.
func (d *display) printf(format string, args ...any) {
	d.last = time.Now()
	_, _ = fmt.Fprintf(d.out, format+"\n", args...) // a closed terminal must not stop the measurement
}

// progress is how much of one task is done.
type progress struct {
	display *display
	name    string
	total   int64
	done    int64
}

// progressInterval is the time between two lines of one task.
const progressInterval = 10 * time.Second

func (d *display) start(name string, total int64) *progress {
	return &progress{display: d, name: name, total: total}
}

func (p *progress) add(n int64) {
	p.done += n
	if time.Since(p.display.last) >= progressInterval {
		p.display.printf("%s: %s of %s", p.name, grouped(float64(p.done)), grouped(float64(p.total)))
	}
}

// grouped formats a number for people: 12,345, and up to two decimals below 10.
func grouped(n float64) string {
	switch {
	case n < 0:
		return "-" + grouped(-n)
	case n < 10:
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(n, 'f', 2, 64), "0"), ".")
	case n < 100:
		return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
	}
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, parts...), ",")
}

// formatDuration formats a duration in s, ms or µs.
func formatDuration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return grouped(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return grouped(float64(d)/float64(time.Millisecond)) + " ms"
	default:
		return grouped(float64(d)/float64(time.Microsecond)) + " µs"
	}
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" }
