package cli

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// step is how often a load says how far it is where nobody watches a bar.
const step = 5 * time.Second

// progress shows how far a file is read: a bar on a terminal, and elsewhere a
// line from time to time, so that a log stays readable.
type progress struct {
	app   *app
	bars  *mpb.Progress // nil without a terminal
	bar   *mpb.Bar
	began time.Time
	spoke time.Time
	count atomic.Int64 // rows
}

// newCount begins a display of things that are counted; see [progress.of].
func (a *app) newCount() *progress {
	p := &progress{app: a, began: time.Now(), spoke: time.Now()}
	if _, person := terminal(a.env.Stderr); person {
		p.bars = mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(40))
	}
	return p
}

// newProgress begins a display for size bytes; -1 means that nobody knows.
func (a *app) newProgress(size int64) *progress {
	p := a.newCount()
	if p.bars == nil {
		return p
	}
	if size < 0 {
		p.bar = p.bars.AddSpinner(0,
			mpb.AppendDecorators(decor.CurrentKibiByte("% .1f "), p.pace()))
		return p
	}
	p.bar = p.bars.AddBar(size,
		mpb.PrependDecorators(decor.CountersKibiByte("% .1f / % .1f ")),
		mpb.AppendDecorators(decor.Percentage(), p.pace(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

// reader counts what is read from r.
func (p *progress) reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	return p.bar.ProxyReader(r)
}

// pace shows the rows so far and how many there are in a second.
func (p *progress) pace() decor.Decorator {
	return decor.Any(func(decor.Statistics) string {
		n := p.count.Load()
		return fmt.Sprintf(", %d rows, %.0f/s", n, float64(n)/max(time.Since(p.began).Seconds(), 0.001))
	})
}

// rows tells that so many rows have been dealt with by now.
func (p *progress) rows(what string, n int64) {
	p.count.Store(n)
	if p.bars != nil || time.Since(p.spoke) < step {
		return
	}
	p.spoke = time.Now()
	fmt.Fprintf(p.app.env.Stderr, "%s: %d rows, %.0f a second\n", what, n, float64(n)/max(time.Since(p.began).Seconds(), 0.001))
}

// of tells that so many of all things have been dealt with by now.
func (p *progress) of(what string, done, total int) {
	switch {
	case p.bars == nil && time.Since(p.spoke) < step:
		return
	case p.bars == nil:
		p.spoke = time.Now()
		fmt.Fprintf(p.app.env.Stderr, "%s: %d of %d\n", what, done, total)
		return
	case p.bar == nil:
		p.bar = p.bars.AddBar(int64(total), mpb.PrependDecorators(decor.CountersNoUnit("%d / %d ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetTotal(int64(total), false)
	p.bar.SetCurrent(int64(done))
}

// end leaves the display as it is and waits until it is drawn.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	p.bar.Abort(false) // does nothing to a bar that is full
	p.bars.Wait()
}
