// Package pageimage draws pages of documents as pictures, so that a reviewer sees what a
// file shows without opening the file itself.
//
// What it guarantees:
//
//   - Whatever reads the file runs in a process of its own, with low limits and no access
//     (package confined): Go's decoders for images, poppler's pdftoppm for PDF.
//   - What comes out is a JPEG that was made from pixels, and contains nothing else of the
//     file. It has at most [Side] pixels a side.
//
// Only files that were inspected are to be drawn: the process limits the harm that an
// unknown flaw of a decoder can do, and is no reason to skip the inspection.
package pageimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/confined"
)

// Side is how many pixels the longer side of a picture has at most.
const Side = 1200

const pdf = "application/pdf"

// The limits of a process.
const (
	cpuLimit   = 20 * time.Second
	clockLimit = time.Minute // a machine may be busy with other work
	memory     = 768 << 20
	maxPicture = 8 << 20 // bytes
)

// The errors of a Drawer.
var (
	// ErrNone reports a type of file of which no picture can be made here: it is unknown, or
	// it is PDF and poppler's programs are not installed.
	ErrNone = errors.New("pageimage: no picture can be made of this type of file")
	// ErrTooLarge reports an image with too many pixels.
	ErrTooLarge = errors.New("pageimage: the image has too many pixels")
	// ErrFailed reports that the process made no picture: the file is damaged, has no such
	// page, or needs too much.
	ErrFailed = errors.New("pageimage: no picture was made")
)

// Drawer draws pages. The zero value looks for poppler's programs in the PATH, and starts
// the running program again, whose main must call Main first.
type Drawer struct {
	Command []string // the program and its arguments; if empty, the running program
	// Tools is the directory of pdftoppm and pdfinfo; "" means the PATH.
	Tools string
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
		return d.tool(pdfToJPEG) != "" && d.tool(pdfInfo) != ""
	}
	return decoders[mediaType].all != nil
}

var pagesLine = regexp.MustCompile(`(?m)^Pages:\s+(\d+)$`)

// Pages returns how many pages a file has. An image has one, whatever its format allows.
func (d *Drawer) Pages(ctx context.Context, f io.Reader, mediaType string) (int, error) {
	if !d.CanDraw(mediaType) {
		return 0, ErrNone
	}
	if mediaType != pdf {
		return 1, nil
	}
	text, err := d.run(ctx, f, mediaType, 0, d.tool(pdfInfo))
	if err != nil {
		return 0, err
	}
	found := pagesLine.FindSubmatch(text)
	if found == nil {
		return 0, ErrFailed
	}
	return strconv.Atoi(string(found[1]))
}

// Draw returns a JPEG of a page, the first of which is 1.
func (d *Drawer) Draw(ctx context.Context, f io.Reader, mediaType string, page int) ([]byte, error) {
	if !d.CanDraw(mediaType) {
		return nil, ErrNone
	}
	picture, err := d.run(ctx, f, mediaType, page, d.tool(pdfToJPEG))
	if err == nil && !bytes.HasPrefix(picture, []byte("\xff\xd8\xff")) {
		return nil, ErrFailed
	}
	return picture, err
}

// run starts the process and returns what it writes.
func (d *Drawer) run(ctx context.Context, f io.Reader, mediaType string, page int, tool string) ([]byte, error) {
	command := d.Command
	if len(command) == 0 {
		command = []string{confined.Self()}
	}
	clock, cancel := context.WithTimeout(ctx, clockLimit)
	defer cancel()
	cmd := exec.CommandContext(clock, command[0], append(command[1:len(command):len(command)], argument, mediaType, strconv.Itoa(page), tool)...) //nolint:gosec // the program itself, or that of a test
	var out bounded
	cmd.Stdin, cmd.Stdout = f, &out
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=1"} // and none of the caller's secrets
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	confined.TieToParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("pageimage: start: %w", err)
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("pageimage: %w", context.Cause(ctx))
	case cmd.ProcessState.ExitCode() == exitTooLarge:
		return nil, ErrTooLarge
	case err != nil || out.full:
		return nil, ErrFailed
	}
	return out.Bytes(), nil
}

// bounded keeps what a picture may have at most.
type bounded struct {
	bytes.Buffer

	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPicture {
		b.full = true
		return len(p), nil // it is read to its end, so that the process ends by itself
	}
	return b.Buffer.Write(p)
}
