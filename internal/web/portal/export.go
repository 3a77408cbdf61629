package portal

import (
	"context"
	"sync"
	"time"
)

// exportTurn lets one page of one export be read at a time. The zero value is ready to
// use.
type exportTurn struct {
	once sync.Once
	turn chan struct{}
}

// ReadExported reads one page of an export. The exports of a node take turns, and after
// each page they pause for as long as it took: the same cores and the same database
// answer verifications. What was read is written to the visitor afterwards, so that a slow
// one holds up nobody.
func (p *Portal) ReadExported(ctx context.Context, read func() error) error {
	p.exports.once.Do(func() { p.exports.turn = make(chan struct{}, 1) })
	select {
	case p.exports.turn <- struct{}{}:
		defer func() { <-p.exports.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	start := time.Now()
	if err := read(); err != nil {
		return err
	}
	select {
	case <-time.After(time.Since(start)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
