package hashing

import (
	"io"
	"time"
)

// PID returns the id of the process, or 0 while none is ready.
func (p *Process) PID() int {
	if c := p.current.Load(); c != nil {
		return c.process.Pid
	}
	return 0
}

// SetTimeout changes how long one answer may take. Call it before Derive.
func (p *Process) SetTimeout(d time.Duration) { p.timeout = d }

// Requests returns the input of the process.
func (p *Process) Requests() io.Writer { return p.current.Load().requests }
