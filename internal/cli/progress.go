package cli

import (
	"fmt"
	"io"
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
	spoke time.Time
}

// newProgress begins a display for size bytes; -1 means that nobody knows.
func (a *app) newProgress(size int64) *progress {
	p := &progress{app: a, spoke: time.Now()}
	if _, person := terminal(a.env.Stderr); !person {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(a.env.Stderr), mpb.WithWidth(40))
	if size < 0 {
		p.bar = p.bars.AddSpinner(0,
			mpb.AppendDecorators(decor.CurrentKibiByte("% .1f "), decor.AverageSpeed(decor.SizeB1024(0), "% .1f")))
		return p
	}
	p.bar = p.bars.AddBar(size,
		mpb.PrependDecorators(decor.CountersKibiByte("% .1f / % .1f ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

// reader counts what is read from r.
func (p *progress) reader(r io.Reader) io.Reader {
	if p.bar == nil {
		return r
	}
	return p.bar.ProxyReader(r)
}

// stored tells that so many rows are stored by now.
func (p *progress) stored(rows int64) {
	if p.bars != nil || time.Since(p.spoke) < step {
		return
	}
	p.spoke = time.Now()
	fmt.Fprintf(p.app.env.Stderr, "loaded %d rows\n", rows)
}

// end leaves the display as it is and waits until it is drawn.
func (p *progress) end() {
	if p.bars == nil {
		return
	}
	p.bar.Abort(false) // does nothing to a bar that is full
	p.bars.Wait()
}
