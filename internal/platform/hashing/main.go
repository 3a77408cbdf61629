package hashing

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// argument tells a process that it was started to hash passwords. No command of the
// program has this name.
const argument = "--hash-the-passwords-on-standard-input"

// The exit codes of the process.
const (
	exitClosed = 0  // its input has ended
	exitFrame  = 65 // it cannot read its input, or write its output
)

// Main hashes passwords and ends the process, if the process was started for that;
// otherwise it returns at once. A program that calls Start calls Main first in main,
// and a test in TestMain.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != argument {
		return
	}
	// A service manager sends its signal to all processes of a service. The server
	// still answers logins then, and closes the pipe when it has finished.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	priority := lowerPriority()
	protect()
	os.Exit(serve(os.Stdin, os.Stdout, priority))
}

// serve answers requests until its input ends, and returns the exit code of the
// process. It does not wait for what it still computes: nobody is there to read it.
func serve(r io.Reader, w io.Writer, priority string) int {
	if err := writeFrame(w, []byte(priority)); err != nil {
		return exitFrame
	}
	var writing sync.Mutex
	for {
		payload, err := readFrame(r) // no buffer between: passwords would stay in it
		if errors.Is(err, io.EOF) {
			return exitClosed
		}
		if err != nil {
			return exitFrame
		}
		id, d, err := decodeRequest(payload)
		if err != nil {
			return exitFrame
		}
		go func() {
			key, err := secret.DeriveKey(d)
			clear(payload)
			if err != nil {
				return // decodeRequest has checked it
			}
			writing.Lock()
			defer writing.Unlock()
			_ = writeFrame(w, encodeAnswer(id, key)) // when nobody reads it, the input ends, too
		}()
	}
}
