package hashing

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// pipes are the connection to one process.
type pipes struct {
	process *os.Process

	mu       sync.Mutex
	requests *os.File
	next     uint32
	waiting  map[uint32]chan<- []byte // by id of the request; nil when the process has ended
}

// derive sends a request and waits for its answer. It does not end with the
// caller's context: the caller occupies its slot for as long as the process works
// for it, so that there is never more work than slots.
func (c *pipes) derive(d *secret.Derivation, timeout time.Duration) ([]byte, error) {
	answer, err := c.send(d, timeout)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case key, ok := <-answer:
		if !ok || len(key) != d.KeyLen {
			return nil, errEnded
		}
		return key, nil
	case <-late.C:
		c.kill()
		return nil, errStuck
	}
}

// send sends a request. The answer is closed without a key if the process ends.
func (c *pipes) send(d *secret.Derivation, timeout time.Duration) (<-chan []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return nil, errEnded
	}
	c.next++
	request, err := encodeRequest(c.next, d)
	if err != nil {
		return nil, err
	}
	defer clear(request)
	_ = c.requests.SetWriteDeadline(time.Now().Add(timeout))
	if err := writeFrame(c.requests, request); err != nil {
		c.kill() // it may have got half of a frame
		return nil, err
	}
	answer := make(chan []byte, 1)
	c.waiting[c.next] = answer
	return answer, nil
}

// kill ends the process. It may have ended already.
func (c *pipes) kill() { _ = c.process.Kill() }

// receive passes answers on until they end or cannot be understood.
func (c *pipes) receive(answers io.Reader) error {
	for {
		payload, err := readFrame(answers)
		if err != nil {
			return err
		}
		id, key, err := decodeAnswer(payload)
		if err != nil {
			return err
		}
		c.mu.Lock()
		answer, known := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if !known {
			return errFrame
		}
		answer <- key
	}
}

// end answers all requests that still wait.
func (c *pipes) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answer := range c.waiting {
		close(answer)
	}
	c.waiting = nil
}
