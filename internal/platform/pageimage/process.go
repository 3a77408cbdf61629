package pageimage

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// argument tells a process, which is confined already, that it was started to draw an image.
// No command of the program has this name.
const argument = "--draw-the-image-on-standard-input"

// The exit codes of the process.
const (
	exitFailed   = 1
	exitTooLarge = 3
)

// Main draws an image and ends the process, if the process was started for that;
// otherwise it returns at once. A program that uses a Drawer calls it first in main, after
// confined.Main, and a test in TestMain.
func Main() {
	if len(os.Args) != 4 || os.Args[1] != argument {
		return
	}
	os.Exit(serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3]))
}

// serve draws an image and returns the exit code of the process.
func serve(in io.Reader, out io.Writer, mediaType, page string) int {
	debug.SetMemoryLimit(memory / 4 * 3)
	time.AfterFunc(clockFactor*cpuOfFile, func() { os.Exit(exitFailed) }) // if the parent does not end it
	if page != "1" {
		return exitFailed
	}
	err := drawImage(in, out, mediaType)
	switch {
	case errors.Is(err, ErrTooLarge):
		return exitTooLarge
	case err != nil:
		return exitFailed
	}
	return 0
}
