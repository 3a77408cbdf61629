package e2e_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy is between the server and PostgreSQL and can cut every connection at any
// byte.
type proxy struct {
	ln net.Listener
	to string

	mu    sync.Mutex
	links map[*link]struct{}
}

// link is one connection through the proxy.
type link struct {
	near, far net.Conn
	left      atomic.Int64 // bytes, in both directions, until it is cut
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	p := &proxy{ln: must(net.Listen("tcp", "127.0.0.1:0"))(t), to: to, links: make(map[*link]struct{})}
	t.Cleanup(func() {
		_ = p.ln.Close()
		p.cut()
	})
	go func() {
		for {
			near, err := p.ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go p.join(near)
			}
		}
	}()
	return p
}

// join connects a caller with the database until one of them closes the connection.
func (p *proxy) join(near net.Conn) {
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = near.Close()
		return
	}
	l := &link{near: near, far: far}
	l.left.Store(math.MaxInt64)
	p.mu.Lock()
	p.links[l] = struct{}{}
	p.mu.Unlock()
	go l.pump(far, near)
	l.pump(near, far)
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// pump copies until the end or until the link's bytes are used up, which may be
// in the middle of a message.
func (l *link) pump(to, from net.Conn) {
	defer l.cut()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		left := l.left.Add(int64(-n))
		if left < 0 {
			n = int(max(0, int64(n)+left))
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil || left < 0 {
			return
		}
	}
}

// cut ends a link as a broken cable does, without closing it.
func (l *link) cut() {
	for _, c := range []net.Conn{l.near, l.far} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}

// arm makes every link break after a random number of bytes, and returns how many
// links there are.
func (p *proxy) arm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.left.Store(rand.Int64N(4000))
	}
	return len(p.links)
}

// cut cuts every remaining link.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// through returns the address of a database as it is reached on another port.
func through(t *testing.T, database string, port int) string {
	t.Helper()
	u := must(url.Parse(database))(t)
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return u.String()
}

// If connections to PostgreSQL are cut under load at any byte, or terminated by it,
// no acknowledged answer is lost, and the server opens new ones.
func TestFaultConnectionsCut(t *testing.T) {
	node, w := newFaultNode(t, "")
	p := newProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(node.Port())))
	address, ok := p.ln.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("the proxy does not listen on TCP")
	}
	f := newFaultRun(t, w, through(t, w.url, address.Port))
	f.mayPassUnnoticed = true // a server that retries hides them, which is allowed
	n := faults(t, 6)
	for i := range n {
		f.load()
		broken := 0
		if i%2 == 0 {
			broken = p.arm()
			<-time.After(rand.N(100 * time.Millisecond))
			p.cut() // those without traffic
		} else if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = $1) AS ended`, trialName).Scan(&broken); err != nil {
			t.Fatal(err)
		}
		if broken == 0 {
			t.Fatal("there was no connection to cut")
		}
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}
