package pageimage

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/lineproof/lineproof/internal/confined"
)

// argument tells a process that it was started to draw a page. No command of the program
// has this name.
const argument = "--draw-a-page-of-the-file-on-standard-input"

// poppler's programs.
const (
	pdfToJPEG = "pdftoppm"
	pdfInfo   = "pdfinfo"
)

// maxOpenFiles are for the Go runtime, or for poppler and the fonts that it reads.
const maxOpenFiles = 32

// The exit codes of the process.
const (
	exitFailed   = 1
	exitTooLarge = 3
)

// Main draws a page and ends the process, if the process was started for that;
// otherwise it returns at once. A program that uses a Drawer calls it first in main, and a
// test in TestMain.
func Main() {
	if len(os.Args) != 5 || os.Args[1] != argument {
		return
	}
	os.Exit(serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3], os.Args[4]))
}

// serve draws one page and returns the exit code of the process.
func serve(in io.Reader, out io.Writer, mediaType, page, tool string) int {
	debug.SetMemoryLimit(memory / 4 * 3)
	// A program that tries to write a file, as the cache of fonts does, gets an error and
	// not a signal.
	signal.Ignore(syscall.SIGXFSZ)
	if err := confined.Limit(memory, cpuLimit, maxOpenFiles); err != nil {
		return exitFailed
	}
	time.AfterFunc(clockLimit+time.Second, func() { os.Exit(exitFailed) }) // if the parent does not end it
	number, err := strconv.Atoi(page)
	if err != nil {
		return exitFailed
	}
	if mediaType == pdf { // this process becomes poppler's, with its limits
		args := []string{pdfInfo, "-"}
		if number > 0 {
			args = []string{pdfToJPEG, "-jpeg", "-jpegopt", "quality=85", "-f", page, "-l", page, "-scale-to", strconv.Itoa(Side), "-"}
		}
		_ = syscall.Exec(tool, args, []string{}) //nolint:gosec // poppler, as the parent found it
		return exitFailed
	}
	err = drawImage(in, out, mediaType)
	switch {
	case errors.Is(err, ErrTooLarge):
		return exitTooLarge
	case err != nil || number != 1:
		return exitFailed
	}
	return 0
}
