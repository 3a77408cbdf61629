package console

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// ReportInterval is the time between two progress lines where there is no
// terminal for a progress bar.
const ReportInterval = 5 * time.Second

// Progress shows how much work is done: a bar on a terminal, elsewhere a line
// every [ReportInterval], so that a log stays readable.
type Progress struct {
	console  *Console
	bars     *mpb.Progress // nil without a terminal
	bar      *mpb.Bar
	started  time.Time
	reported time.Time
	count    atomic.Int64 // rows
}

// NewCounter starts a display of items that are counted; see [Progress.Items].
func (c *Console) NewCounter() *Progress {
	p := &Progress{console: c, started: time.Now(), reported: time.Now()}
	if _, ok := Terminal(c.Env.Stderr); ok {
		p.bars = mpb.New(mpb.WithOutput(c.Env.Stderr), mpb.WithWidth(40))
	}
	return p
}

// NewProgress starts a display for size bytes; -1 means that the size is unknown.
func (c *Console) NewProgress(size int64) *Progress {
	p := c.NewCounter()
	if p.bars == nil {
		return p
	}
	if size < 0 {
		p.bar = p.bars.AddSpinner(0,
			mpb.AppendDecorators(decor.CurrentKibiByte("% .1f "), p.rate()))
		return p
	}
	p.bar = p.bars.AddBar(size,
		mpb.PrependDecorators(decor.CountersKibiByte("% .1f / % .1f ")),
		mpb.AppendDecorators(decor.Percentage(), p.rate(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

// Reader counts the bytes that are read from r.
func (p *Progress) Reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	return p.bar.ProxyReader(r)
}

// rate shows the number of rows so far and the rows per second.
func (p *Progress) rate() decor.Decorator {
	return decor.Any(func(decor.Statistics) string {
		n := p.count.Load()
		return fmt.Sprintf(", %d rows, %.0f/s", n, float64(n)/max(time.Since(p.started).Seconds(), 0.001))
	})
}

// lineDue reports whether the next line is due where there is no bar; it then counts as written.
func (p *Progress) lineDue() bool {
	if time.Since(p.reported) < ReportInterval {
		return false
	}
	p.reported = time.Now()
	return true
}

// Rows reports that n rows are done.
func (p *Progress) Rows(what string, n int64) {
	p.count.Store(n)
	if p.bars != nil || !p.lineDue() {
		return
	}
	fmt.Fprintf(p.console.Env.Stderr, "%s: %d rows, %.0f per second\n", what, n, float64(n)/max(time.Since(p.started).Seconds(), 0.001))
}

// Items reports that done of total items are done.
func (p *Progress) Items(what string, done, total int) {
	switch {
	case p.bars == nil && !p.lineDue():
		return
	case p.bars == nil:
		fmt.Fprintf(p.console.Env.Stderr, "%s: %d of %d\n", what, done, total)
		return
	case p.bar == nil:
		p.bar = p.bars.AddBar(int64(total), mpb.PrependDecorators(decor.CountersNoUnit("%d / %d ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetTotal(int64(total), false)
	p.bar.SetCurrent(int64(done))
}

// Bytes reports that done of size bytes are done; -1 means that the size is unknown.
func (p *Progress) Bytes(what string, done, size int64) {
	switch {
	case p.bars == nil && !p.lineDue():
		return
	case p.bars == nil:
		text := fmt.Sprintf("% .1f", decor.SizeB1024(done))
		if size >= 0 {
			text += fmt.Sprintf(" of % .1f", decor.SizeB1024(size))
		}
		fmt.Fprintf(p.console.Env.Stderr, "%s: %s\n", what, text)
		return
	case p.bar == nil && size < 0:
		p.bar = p.bars.AddSpinner(0, mpb.AppendDecorators(decor.Name(what+" "), decor.CurrentKibiByte("% .1f")))
	case p.bar == nil:
		p.bar = p.bars.AddBar(size, mpb.PrependDecorators(decor.Name(what+" "), decor.CountersKibiByte("% .1f / % .1f ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetCurrent(done)
}

// End stops the display, leaves it on the screen, and waits until it is drawn.
func (p *Progress) End() {
	if p.bar == nil {
		return
	}
	p.bar.Abort(false) // has no effect on a full bar
	p.bars.Wait()
	p.bar = nil // a second call does nothing
}
