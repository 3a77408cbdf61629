package supply

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/phone"
)

// chunk is what one transaction takes from a file.
type chunk struct {
	rows    []linefile.Row
	refused []linefile.Refusal
	named   []phone.Number // in rows that were refused
	place   int64          // of the file, after the chunk
	digest  [32]byte
	err     error // io.EOF after the last one

	sheet *sheet // the lines of an events file, as they were when it was read ahead
	after int64  // how many chunks had been applied then
}

// chunks reads ahead: while one chunk is on its way to the database the next is
// being parsed. The caller gives each back through the returned function. It
// stops when ctx ends, and closes the reader. Where an import goes on, a chunk
// ends where the last committed one did, whatever sizes they had.
func (r *runner) chunks(ctx context.Context) (next <-chan *chunk, done func(*chunk)) {
	const ahead = 2
	size, passed, reader := r.chunk(), r.im.place, r.reader
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
			if left := passed - reader.Place(); left > 0 {
				c.rows = c.rows[:min(int64(size), left)]
			}
			n, refused, err := reader.Next(c.rows)
			c.rows, c.refused, c.err = c.rows[:n], refused, err
			c.named = append(c.named[:0], reader.Named()...)
			c.place, c.digest, c.sheet = reader.Place(), reader.Digest(), nil
			if c.place > passed {
				r.layAhead(ctx, c)
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

// each calls fn for every chunk of the file, and returns the error that ended
// it, or nil at its end.
func (r *runner) each(ctx context.Context, fn func(*chunk) error) error {
	ctx, cancel := context.WithCancel(ctx)
	next, done := r.chunks(ctx)
	defer func() {
		cancel()
		leave(next)
	}()
	for c := range next {
		end, began := c.err, time.Now()
		for _, n := range c.named {
			r.spoilt.add(n)
		}
		if end == nil || errors.Is(end, io.EOF) {
			if err := fn(c); err != nil {
				return err
			}
		}
		if r.im.Source == "api" {
			rest(ctx, time.Since(began))
		}
		switch {
		case errors.Is(end, io.EOF):
			return nil
		case end != nil:
			return end
		}
		done(c)
	}
	return ctx.Err()
}

// leave waits until nobody reads any more. A pipe on which nothing comes is left
// behind.
func leave(next <-chan *chunk) {
	patience := time.After(time.Second)
	for {
		select {
		case _, more := <-next:
			if !more {
				return
			}
		case <-patience:
			return
		}
	}
}

// layAhead fetches the lines that a chunk of events speaks of while the chunk
// before it is being written. If it fails, the transaction fetches them.
func (r *runner) layAhead(ctx context.Context, c *chunk) {
	if !r.ahead || r.im.Kind != linefile.Events || len(c.rows) == 0 {
		return
	}
	c.after = r.applied.Load()
	numbers := make([]phone.Number, len(c.rows))
	for i := range c.rows {
		numbers[i] = c.rows[i].Number
	}
	if sheet, err := r.desk.lay(ctx, r.desk.Pool, r.rules, numbers, false); err == nil {
		c.sheet = sheet
	}
}

// laid returns the lines that were fetched ahead, unless a chunk that has been
// applied since speaks of one of them, too.
func (r *runner) laid(c *chunk) *sheet {
	s := c.sheet
	c.sheet = nil // it is written on: a second try needs a new one
	if s == nil {
		return nil
	}
	for i, n := int64(0), r.applied.Load(); i < int64(len(r.recent)) && n-i > c.after; i++ {
		before := r.recent[(n-i-1)%int64(len(r.recent))]
		for number := range s.by {
			if before[number] != nil {
				return nil
			}
		}
	}
	return s
}
