package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// display shows the progress: bars on a terminal, and plain lines elsewhere, so
// that a log stays readable.
type display struct {
	out  io.Writer
	bars *mpb.Progress // nil without a terminal, or when no bar is shown
	tty  bool
	last time.Time // time of the last line
}

func newDisplay(out io.Writer) *display {
	d := &display{out: out}
	if f, ok := out.(*os.File); ok {
		d.tty = term.IsTerminal(int(f.Fd()))
	}
	return d
}

// printf prints one line.
func (d *display) printf(format string, args ...any) {
	to := d.out
	if d.bars != nil {
		to = d.bars // above the bar
	}
	d.last = time.Now()
	_, _ = fmt.Fprintf(to, format+"\n", args...) // a closed terminal must not stop the measurement
}

// bar is the progress of one task.
type bar struct {
	display *display
	name    string
	total   int64
	done    int64
	mpbBar  *mpb.Bar // nil without a terminal
}

// progressInterval is the time between two progress lines without a terminal.
const progressInterval = 10 * time.Second

func (d *display) startBar(name string, total int64) *bar {
	b := &bar{display: d, name: name, total: total}
	if d.tty {
		d.bars = mpb.New(mpb.WithOutput(d.out), mpb.WithWidth(40))
		b.mpbBar = d.bars.AddBar(total, mpb.PrependDecorators(decor.Name(name+" "), decor.CountersNoUnit("%d / %d ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	return b
}

func (b *bar) add(n int64) {
	b.done += n
	if b.mpbBar != nil {
		b.mpbBar.IncrInt64(n)
		return
	}
	if time.Since(b.display.last) >= progressInterval {
		b.display.printf("%s: %s of %s", b.name, grouped(float64(b.done)), grouped(float64(b.total)))
	}
}

// end stops the bar, leaves it on the screen, and waits until it is drawn. It may
// be called more than once.
func (b *bar) end() {
	if b.mpbBar == nil || b.display.bars == nil {
		return
	}
	b.mpbBar.Abort(false) // has no effect on a full bar
	b.display.bars.Wait()
	b.display.bars = nil
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
