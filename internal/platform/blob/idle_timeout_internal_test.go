package blob

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A connection stays open while bytes are transferred, however slowly and in
// whichever direction, and fails when none are.
func TestALivelyConnectionLasts(t *testing.T) {
	t.Parallel()
	const idle, within, steps = time.Second, 900 * time.Millisecond, 10
	one := func() []byte { return make([]byte, 1) }

	for name, test := range map[string]func(near, far net.Conn) error{
		"a slow request, and its answer": func(near, far net.Conn) error {
			answer := make(chan error)
			go func() { // a client waits for the answer while it still asks
				_, err := near.Read(one())
				answer <- err
			}()
			go func() {
				for range steps {
					<-time.After(within)
					_, _ = far.Read(one())
					<-time.After(within / 2)
				}
				_, _ = far.Write(one())
			}()
			for range steps {
				if _, err := near.Write(one()); err != nil {
					return err
				}
				<-time.After(within / 2) // it has to find the next piece
			}
			return <-answer
		},
		"a slow answer": func(near, far net.Conn) error {
			go func() {
				for range steps {
					<-time.After(within)
					_, _ = far.Write(one())
				}
			}()
			_, err := io.ReadFull(near, make([]byte, steps))
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			if err := test(&idleTimeoutConn{Conn: near, idle: idle}, far); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for name, step := range map[string]func(net.Conn) (int, error){
		"nobody reads":  func(c net.Conn) (int, error) { return c.Write(one()) },
		"nobody writes": func(c net.Conn) (int, error) { return c.Read(one()) },
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			begin := time.Now()
			if _, err := step(&idleTimeoutConn{Conn: near, idle: idle}); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != idle {
				t.Errorf("%s: %v after %s", name, err, time.Since(begin))
			}
		})
	}
}
