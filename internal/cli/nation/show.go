package nation

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/lineproof/lineproof/internal/cli/console"
)

// display shows what happens: on a terminal with a bar and a line that is rewritten,
// elsewhere with plain lines, and for programs with lines of JSON.
type display struct {
	con      *console.Console
	json     bool
	terminal bool

	mu       sync.Mutex
	rows     map[int]int64 // of each operator
	bars     *mpb.Progress
	bar      *mpb.Bar
	drawn    bool // a status is on the last line
	reported time.Time
}

// statusInterval is the time between two statuses where each is a line of its own.
const statusInterval = 10 * time.Second

func newDisplay(con *console.Console, asJSON bool) *display {
	_, terminal := console.Terminal(con.Env.Stderr)
	return &display{con: con, json: asJSON, terminal: terminal && !asJSON, rows: map[int]int64{}}
}

// note prints a sentence for people.
func (d *display) note(format string, args ...any) { d.con.Note(format, args...) }

// line prints a line of JSON.
func (d *display) line(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return // it is made of texts and numbers
	}
	fmt.Fprintln(d.con.Out, string(text))
}

// step does something and says what, and how long it took.
func (d *display) step(name string, do func() error) error {
	began := time.Now()
	if d.terminal {
		fmt.Fprintf(d.con.Env.Stderr, "  · %s ...", name)
	}
	err := do()
	d.endBar()
	took := time.Since(began)
	switch {
	case d.json:
		d.line(map[string]any{"step": name, "milliseconds": took.Milliseconds(), "ok": err == nil})
	case err != nil && d.terminal:
		fmt.Fprintf(d.con.Env.Stderr, "\r\x1b[K  ✗ %s\n", name)
	case d.terminal:
		fmt.Fprintf(d.con.Env.Stderr, "\r\x1b[K  ✓ %-66s %6.1f s\n", name, took.Seconds())
	case err == nil:
		fmt.Fprintf(d.con.Env.Stderr, "%s: %.1f s\n", name, took.Seconds())
	}
	return err
}

// progress shows how many rows of an operator's file are applied.
func (d *display) progress(rows int64, of int, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows[of] = rows
	var sum int64
	for _, n := range d.rows {
		sum += n
	}
	switch {
	case d.terminal && d.bar == nil:
		fmt.Fprintln(d.con.Env.Stderr)
		d.bars = mpb.New(mpb.WithOutput(d.con.Env.Stderr), mpb.WithWidth(40))
		d.bar = d.bars.AddBar(total, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.CountersNoUnit("    %d / %d lines ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(", time left "), decor.AverageETA(decor.ET_STYLE_GO)))
		d.bar.SetCurrent(sum)
	case d.terminal:
		d.bar.SetCurrent(sum)
	case time.Since(d.reported) < console.ReportInterval:
	case d.json:
		d.reported = time.Now()
		d.line(map[string]any{"lines": sum, "of": total})
	default:
		d.reported = time.Now()
		fmt.Fprintf(d.con.Env.Stderr, "  %d of %d lines\n", sum, total)
	}
}

func (d *display) endBar() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != nil {
		d.bar.Abort(true)
		d.bars.Wait()
		d.bar = nil
	}
}

// status shows how the nation goes.
func (d *display) status(s status) {
	switch {
	case d.json:
		d.line(map[string]any{"status": s})
	case d.terminal:
		d.drawn = true
		fmt.Fprintf(d.con.Env.Stderr, "\r\x1b[K%s", d.fit(s.String()))
	case time.Since(d.reported) >= statusInterval:
		d.reported = time.Now()
		fmt.Fprintln(d.con.Env.Stderr, s.String())
	}
}

// fit cuts a text so that it stays on one line of the terminal, which is rewritten.
func (d *display) fit(text string) string {
	fd, _ := console.Terminal(d.con.Env.Stderr)
	width, _, err := term.GetSize(fd)
	if runes := []rune(text); err == nil && width > 1 && len(runes) >= width {
		return string(runes[:width-2]) + "…"
	}
	return text
}

// end leaves the status on the screen.
func (d *display) end() {
	d.endBar()
	if d.drawn {
		fmt.Fprintln(d.con.Env.Stderr)
	}
}

// summary prints where to look, and who can log in.
func (d *display) summary(s summary) {
	if d.json {
		d.line(map[string]any{"ready": s})
		return
	}
	out := d.con.Out
	section := func(title string, rows [][]string) {
		fmt.Fprintf(out, "\n%s\n", title)
		for _, row := range rows {
			row[0] = "  " + row[0]
		}
		d.con.PrintRows(rows)
	}
	fmt.Fprintf(out, "\nA small nation is running: %s\n", s.About)
	section("OPEN", s.Pages)
	rows := [][]string{}
	for _, a := range s.Accounts {
		rows = append(rows, []string{a.Role, a.Name, a.Email, a.Password})
	}
	section("LOG IN AS (two-factor authentication is off in the demo)", rows)
	section("LOOK AT FIRST", s.First)
	section("CREDENTIALS", s.Secrets)
	fmt.Fprintf(out, "\nVERIFY A NUMBER\n  %s\n\nEverything is in %s, the passwords too. Stop it with Ctrl-C.\n\n", s.Curl, s.Directory)
}
