// Package pageimage draws the pages of documents, so that people see what a file shows
// without any byte of the file itself.
//
// What it guarantees:
//
//   - Whatever reads the file runs confined (package confined): Go's decoders for images,
//     poppler's pdftoppm for PDF. Even a program that a file has taken over can only write
//     its result.
//   - That result is raw pixels, which this process takes as numbers: width, height and
//     three bytes for each pixel, at most [Side] pixels a side. It encodes them itself, so
//     that no format that a stranger could have prepared reaches a browser.
//
// What a file contains besides what it shows is not looked for: nobody gets it.
package pageimage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/platform/confined"
)

// Side is how many pixels the longer side of a picture has at most.
const Side = 1200

// MaxPages is how many pages a file may have.
const MaxPages = 100

const pdf = "application/pdf"

// The limits of a process.
const (
	cpuOfPage   = 20 * time.Second
	cpuOfFile   = time.Minute
	clockFactor = 5 // a machine may be busy with other work
	memory      = 768 << 20
	openFiles   = 32 // for the Go runtime, or for poppler and the fonts that it reads
	quality     = 85
)

// poppler's programs.
const (
	pdfToPixels = "pdftoppm"
	pdfInfo     = "pdfinfo"
)

// The errors of a Drawer. Those of a file say that it can't be drawn; every other error says
// nothing about the file.
var (
	// ErrNone reports a type of file of which no picture can be made here: it is unknown, or
	// it is PDF and poppler's programs are not installed.
	ErrNone = errors.New("pageimage: no picture can be made of this type of file")
	// ErrTooLarge reports an image with too many pixels.
	ErrTooLarge = errors.New("pageimage: the image has too many pixels")
	// ErrTooManyPages reports a file with more than MaxPages pages.
	ErrTooManyPages = errors.New("pageimage: the file has too many pages")
	// ErrEncrypted reports a PDF that opens with a password only.
	ErrEncrypted = errors.New("pageimage: the file needs a password")
	// ErrTooMuchWork reports that the process reached its limits.
	ErrTooMuchWork = errors.New("pageimage: the file needs too much time or memory")
	// ErrFailed reports that the process made no picture: the file is damaged, or has no such
	// page.
	ErrFailed = errors.New("pageimage: no picture was made")
	// ErrNotConfined reports that nothing was drawn because the kernel can't confine the
	// process. It says nothing about the file.
	ErrNotConfined = errors.New("pageimage: the process that draws could not be confined")

	errKilled = errors.New("pageimage: the process was killed from outside")
)

// Drawer draws pages. The zero value looks for poppler's programs in the PATH, and starts
// the running program again, whose main must call confined.Main and Main first.
type Drawer struct {
	// Tools is the directory of pdftoppm and pdfinfo; "" means the PATH.
	Tools string
	// Unconfined draws also where the kernel can't confine a process.
	Unconfined bool
}

// tool returns the path of one of poppler's programs, "" if it is not installed.
func (d *Drawer) tool(name string) string {
	if d.Tools != "" {
		name = d.Tools + "/" + name
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// CanDraw reports whether pictures can be made of a type of file.
func (d *Drawer) CanDraw(mediaType string) bool {
	if mediaType == pdf {
		return d.tool(pdfToPixels) != "" && d.tool(pdfInfo) != ""
	}
	return decoders[mediaType].all != nil
}

// The last such line, because the title of a document is written before it.
var pagesLine = regexp.MustCompile(`(?s)^(?:.*\n)?Pages:\s+(\d{1,9})\n`)

// Pages returns how many pages a file has. Of an image there is one, whatever its format
// allows.
func (d *Drawer) Pages(ctx context.Context, f io.Reader, mediaType string) (pages int, err error) {
	if !d.CanDraw(mediaType) {
		return 0, ErrNone
	}
	if mediaType != pdf {
		return 1, nil
	}
	var text bytes.Buffer
	err = d.run(ctx, f, confined.Program{Path: d.tool(pdfInfo), Args: []string{"-"}, CPU: cpuOfPage}, func(r io.Reader) error {
		const longest = 1 << 20
		_, err := io.Copy(&text, io.LimitReader(r, longest))
		return err
	})
	if err != nil {
		return 0, err
	}
	found := pagesLine.FindSubmatch(text.Bytes())
	if found == nil {
		return 0, ErrFailed
	}
	return strconv.Atoi(string(found[1]))
}

// Draw returns a JPEG of a page, the first of which is 1.
func (d *Drawer) Draw(ctx context.Context, f io.Reader, mediaType string, page int) (picture []byte, err error) {
	drawn, err := d.pages(ctx, f, mediaType, page, page, cpuOfPage, func(p []byte) error {
		picture = p
		return nil
	})
	if err == nil && drawn != 1 {
		return nil, ErrFailed
	}
	return picture, err
}

// DrawAll calls each with a JPEG of every page, in their order, and returns their number. It
// returns an error if one of them could not be drawn.
func (d *Drawer) DrawAll(ctx context.Context, f io.ReadSeeker, mediaType string, each func(picture []byte) error) (int, error) {
	pages, err := d.Pages(ctx, f, mediaType)
	switch {
	case err != nil:
		return 0, err
	case pages > MaxPages:
		return pages, ErrTooManyPages
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("pageimage: read again: %w", err)
	}
	drawn, err := d.pages(ctx, f, mediaType, 1, pages, cpuOfFile, each)
	if err == nil && (drawn != pages || pages == 0) {
		err = ErrFailed
	}
	return drawn, err
}

// pages draws some pages.
func (d *Drawer) pages(ctx context.Context, f io.Reader, mediaType string, first, last int, cpu time.Duration, each func(picture []byte) error) (drawn int, err error) {
	if !d.CanDraw(mediaType) {
		return 0, ErrNone
	}
	p := confined.Program{Path: confined.Own, Args: []string{argument, mediaType, strconv.Itoa(first)}, CPU: cpu, Threads: true}
	if mediaType == pdf {
		p.Path, p.Threads = d.tool(pdfToPixels), false
		p.Args = []string{"-f", strconv.Itoa(first), "-l", strconv.Itoa(last), "-scale-to", strconv.Itoa(Side), "-"}
	}
	err = d.run(ctx, f, p, func(r io.Reader) error {
		in := bufio.NewReaderSize(r, 64<<10)
		for ; drawn <= last-first; drawn++ {
			pixels, err := readPixels(in)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if err := jpeg.Encode(&out, pixels, &jpeg.Options{Quality: quality}); err != nil {
				return err
			}
			if err := each(out.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
	return drawn, err
}

// run starts a process that reads f, and read with what it writes.
func (d *Drawer) run(ctx context.Context, f io.Reader, p confined.Program, read func(io.Reader) error) error {
	clock, cancel := context.WithTimeout(ctx, clockFactor*p.CPU)
	defer cancel()
	p.Memory, p.OpenFiles, p.Weak = memory, openFiles, d.Unconfined
	cmd := p.Command(clock)
	in, out := io.Pipe()
	var words prefix
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, out, &words
	failed := make(chan error, 1)
	go func() {
		err := read(in)
		if err != nil {
			cancel() // the process is of no more use
		}
		_, _ = io.Copy(io.Discard, in) // so that the process ends by itself
		failed <- err
	}()
	err := confined.Run(cmd)
	_ = out.Close() // never fails
	readErr := <-failed
	if cmd.ProcessState == nil {
		return fmt.Errorf("pageimage: start: %w", err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("pageimage: %w", context.Cause(ctx))
	case readErr != nil:
		return readErr
	case err == nil:
		return nil
	case cmd.ProcessState.ExitCode() == confined.ExitNotConfined:
		return fmt.Errorf("%w: %s", ErrNotConfined, words)
	case cmd.ProcessState.ExitCode() == exitTooLarge:
		return ErrTooLarge
	case bytes.Contains(words, []byte("Incorrect password")):
		return ErrEncrypted
	case clock.Err() != nil || used >= p.CPU/2 && confined.WasKilled(cmd.ProcessState): // the kernel measures the limit by another clock
		return ErrTooMuchWork
	case confined.WasKilled(cmd.ProcessState):
		return errKilled
	}
	return ErrFailed
}

// prefix keeps the beginning of what a process says.
type prefix []byte

func (p *prefix) Write(text []byte) (int, error) {
	const longest = 4096
	*p = append(*p, text[:min(len(text), longest-len(*p))]...)
	return len(text), nil
}
