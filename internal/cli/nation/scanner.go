// This part of the package has what a demonstration on one machine uses where an installation has
// something real: a scanner of documents, and documents.

package nation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// VirusTestText is what every scanner must find: the text of the EICAR test file. It is
// written in two parts so that no scanner finds it here.
const VirusTestText = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// maxScanned bounds the memory of a scan; documents of a demonstration are far smaller.
const maxScanned = 16 << 20

// ScanAll starts what speaks clamd's protocol and knows the test file only: enough for
// documents that a demonstration invents, and for nothing else. It ends with ctx.
func ScanAll(ctx context.Context, address string) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go scan(conn)
			}
		}
	}()
	return nil
}

// scan answers one command.
func scan(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the caller sees an incomplete answer as one
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(conn)
	command, err := r.ReadString(0)
	if err != nil {
		return
	}
	answer := "UNKNOWN COMMAND"
	switch command {
	case "zVERSION\x00":
		answer = "ClamAV 0.0.0 (stand-in of the demo: it knows the EICAR test file only)"
	case "zPING\x00":
		answer = "PONG"
	case "zINSTREAM\x00":
		found, err := readStream(r)
		switch {
		case err != nil:
			return
		case found:
			answer = "stream: Eicar-Test-Signature FOUND"
		default:
			answer = "stream: OK"
		}
	}
	_, _ = io.WriteString(conn, answer+"\x00")
}

// readStream reads a file in chunks, each after its length, and looks for the test text.
func readStream(r io.Reader) (found bool, err error) {
	var all bytes.Buffer
	for {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return false, fmt.Errorf("nation: %w", err)
		}
		if size == 0 {
			return bytes.Contains(all.Bytes(), []byte(VirusTestText)), nil
		}
		if all.Len()+int(size) > maxScanned {
			return false, errors.New("nation: the file is too large for the scanner")
		}
		if _, err := io.CopyN(&all, r, int64(size)); err != nil {
			return false, fmt.Errorf("nation: %w", err)
		}
	}
}
