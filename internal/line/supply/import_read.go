package supply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// chunk is the part of a file that is applied in one transaction.
type chunk struct {
	rows           []linefile.Row
	refused        []linefile.Refusal
	refusedNumbers []phone.Number // the numbers of rejected rows, where they could be read
	place          int64          // the line of the file after the chunk
	digest         [32]byte       // of the file up to place
	err            error          // what ended the file; io.EOF after the last chunk
	readTime       time.Duration  // how long the reading took

	loaded      *changeSet // the numbers of an events file, if loadChunk has loaded them
	loadedAfter int64      // how many chunks had been applied before that
}

// openFile opens the file, and the reader for its rows. Reading ends with ctx, also
// within a line that decompresses to gigabytes.
func (r *importRun) openFile(ctx context.Context) (closeFile func(), err error) {
	in, err := r.src.Open()
	if err != nil {
		return nil, fmt.Errorf("supply: open the file: %w", err)
	}
	r.reader, err = linefile.Open(linefile.Until(ctx, in), linefile.Options{Kind: r.im.form(), Region: r.service.Region, AsOf: r.im.AsOf, Now: r.rules.now, Zone: r.rules.policy.Zone()})
	if err != nil {
		_ = in.Close() // nothing was written
		return nil, err
	}
	r.seen, r.unreadable = phone.NewSet(), phone.NewSet()
	return func() { _ = in.Close() }, nil
}

// readChunks reads the file ahead: while one chunk is written to the database,
// the next one is parsed. The caller returns each chunk through done. Reading
// stops when ctx ends, and closes the reader. When an import is resumed, one
// chunk ends exactly where the last committed chunk ended, even if the chunks
// had another size then.
func (r *importRun) readChunks(ctx context.Context) (next <-chan *chunk, done func(*chunk)) {
	const ahead = 2
	size, committed, reader := r.chunkSize(), r.im.place, r.reader
	full, free := make(chan *chunk, ahead), make(chan *chunk, ahead+1)
	for range ahead + 1 {
		free <- &chunk{rows: make([]linefile.Row, size)}
	}
	go func() {
		defer close(full)
		defer func() { _ = reader.Close() }() // nothing was written
		for {
			var c *chunk
			select {
			case c = <-free:
			case <-ctx.Done():
				return
			}
			c.rows = c.rows[:size]
			if left := committed - reader.Place(); left > 0 {
				c.rows = c.rows[:min(int64(size), left)]
			}
			started := time.Now()
			n, refused, err := reader.Next(c.rows)
			c.readTime = time.Since(started)
			c.rows, c.refused, c.err = c.rows[:n], refused, err
			c.refusedNumbers = append(c.refusedNumbers[:0], reader.RefusedNumbers()...)
			c.place, c.digest, c.loaded = reader.Place(), reader.Digest(), nil
			if c.place > committed {
				r.loadChunk(ctx, c)
			}
			select {
			case full <- c:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return full, func(c *chunk) { free <- c }
}

// eachChunk calls fn for every chunk of the file. It returns the error that ended
// the reading, or nil at the end of the file.
func (r *importRun) eachChunk(ctx context.Context, fn func(*chunk) error) error {
	ctx, cancel := context.WithCancel(ctx)
	next, done := r.readChunks(ctx)
	defer func() {
		cancel()
		drain(next)
	}()
	for c := range next {
		end := c.err
		err := r.src.turns.Do(ctx, c.readTime, func() error {
			for _, n := range c.refusedNumbers {
				r.unreadable.Add(n)
			}
			if end == nil || errors.Is(end, io.EOF) {
				return fn(c)
			}
			return nil
		})
		if err != nil {
			return err
		}
		switch {
		case errors.Is(end, io.EOF):
			return nil
		case end != nil && ctx.Err() == nil:
			return end
		case end != nil:
			return ctx.Err()
		}
		done(c)
	}
	return ctx.Err()
}

// drain waits until the reading has stopped. A reader that is blocked on a pipe
// to which nobody writes is left behind after a second.
func drain(next <-chan *chunk) {
	timeout := time.After(time.Second)
	for {
		select {
		case _, more := <-next:
			if !more {
				return
			}
		case <-timeout:
			return
		}
	}
}

var errDifferentFile = fault.New(fault.Aborted, "This is not the file with which the import started. Continue with that file, or cancel the import.")

// verifyFile reads the file of an import that is resumed or was held, before
// anything of it is applied. It fails unless this is the file that was checked.
func (r *importRun) verifyFile(ctx context.Context) error {
	closeFile, err := r.openFile(ctx)
	if err != nil {
		return differentFile(err)
	}
	defer closeFile()
	defer func() { _ = r.reader.Close() }()
	for err == nil {
		const lines = 1 << 16 // between two turns
		started := time.Now()
		err = r.reader.Skip(r.reader.Place() + lines)
		if stopped := r.src.turns.Do(ctx, time.Since(started), ctx.Err); stopped != nil {
			return stopped
		}
	}
	_, _, err = r.reader.Next(make([]linefile.Row, 1)) // returns what ended the file
	if digest := r.reader.Digest(); errors.Is(err, io.EOF) && !bytes.Equal(digest[:], r.im.fileDigest) {
		return errDifferentFile
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return differentFile(err)
}

// differentFile turns the refusal of a file into errDifferentFile, where an
// earlier run could read the import's file. Other errors stay as they are.
func differentFile(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.Aborted {
		return errDifferentFile.Because(err)
	}
	return err
}
