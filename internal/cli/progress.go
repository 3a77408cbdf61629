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

// newProgress begins a display for size bytes; -1 means that nobody knows.
func (a *app) newProgress(size int64) *progress {
	p := &progress{app: a, began: time.Now(), spoke: time.Now()}
	if _, person := terminal(a.env.Stderr); !person {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(40))
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

// end leaves the display as it is and waits until it is drawn.
func (p *progress) end() {
	if p.bars == nil {
		return
	}
	p.bar.Abort(false) // does nothing to a bar that is full
	p.bars.Wait()
}
