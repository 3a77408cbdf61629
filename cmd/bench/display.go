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

// display shows how far the work is: bars on a terminal, and plain lines
// elsewhere, so that a log stays readable.
type display struct {
	out  io.Writer
	bars *mpb.Progress // nil without a terminal, or when no bar is shown
	tty  bool
	last time.Time // when something was said
}

func newDisplay(out io.Writer) *display {
	d := &display{out: out}
	if f, ok := out.(*os.File); ok {
		d.tty = term.IsTerminal(int(f.Fd()))
	}
	return d
}

// say writes one line.
func (d *display) say(format string, args ...any) {
	to := d.out
	if d.bars != nil {
		to = d.bars // above the bar
	}
	d.last = time.Now()
	_, _ = fmt.Fprintf(to, format+"\n", args...) // a display that is gone must not end the work
}

// bar is one piece of work that is shown.
type bar struct {
	show  *display
	name  string
	all   int64
	done  int64
	drawn *mpb.Bar // nil without a terminal
}

// quiet is how long a piece of work says nothing where there is no bar.
const quiet = 10 * time.Second

func (d *display) begin(name string, all int64) *bar {
	b := &bar{show: d, name: name, all: all}
	if d.tty {
		d.bars = mpb.New(mpb.WithOutput(d.out), mpb.WithWidth(40))
		b.drawn = d.bars.AddBar(all, mpb.PrependDecorators(decor.Name(name+" "), decor.CountersNoUnit("%d / %d ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	return b
}

func (b *bar) add(n int64) {
	b.done += n
	if b.drawn != nil {
		b.drawn.IncrInt64(n)
		return
	}
	if time.Since(b.show.last) >= quiet {
		b.show.say("%s: %s of %s", b.name, grouped(float64(b.done)), grouped(float64(b.all)))
	}
}

// end leaves the bar as it is and waits until it is drawn. It may be called
// again.
func (b *bar) end() {
	if b.drawn == nil || b.show.bars == nil {
		return
	}
	b.drawn.Abort(false) // does nothing to a bar that is full
	b.show.bars.Wait()
	b.show.bars = nil
}

// grouped writes a number for people: 12,345, and a few digits of small ones.
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

// brief writes a time with three digits at most.
func brief(d time.Duration) string {
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
