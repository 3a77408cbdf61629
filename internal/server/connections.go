package server

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// thisMachine are the addresses of callers on this machine, such as a proxy that
// terminates TLS.
var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// cappedListener closes new connections of an address that already has the maximum.
// Connections that send nothing cost the service memory and file descriptors, and no
// rate limit of requests counts them.
type cappedListener struct {
	net.Listener

	limit   int            // connections of one address
	exempt  []netip.Prefix // proxies, whose connections carry the requests of many callers
	refused func()         // called for every connection that is closed

	mutex sync.Mutex
	open  map[netip.Addr]int
}

// capConnections limits the connections that ln accepts from one address at a time.
func capConnections(ln net.Listener, limit int, exempt []netip.Prefix, refused func()) net.Listener {
	return &cappedListener{Listener: ln, limit: limit, exempt: exempt, refused: refused, open: map[netip.Addr]int{}}
}

// Accept returns the next connection of an address that may have one more.
func (l *cappedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, isTCP := conn.(*net.TCPConn)
		from, counted := l.counted(conn)
		switch {
		case !isTCP || !counted:
			return conn, nil
		case l.add(from):
			return &countedConn{TCPConn: tcp, release: sync.OnceFunc(func() { l.remove(from) })}, nil
		}
		l.refused()
		_ = tcp.SetLinger(0) // no connection stays in TIME_WAIT
		_ = conn.Close()
	}
}

// counted returns the address that a connection counts for. In IPv6 this is the
// network of 64 bits, of which one caller has every address.
func (l *cappedListener) counted(conn net.Conn) (netip.Addr, bool) {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}, false
	}
	from := peer.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(l.exempt, func(p netip.Prefix) bool { return p.Contains(from) }) {
		return from, false
	}
	if from.Is6() {
		network, _ := from.Prefix(64) // of an IPv6 address without a zone
		from = network.Addr()
	}
	return from, true
}

func (l *cappedListener) add(from netip.Addr) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.open[from] >= l.limit {
		return false
	}
	l.open[from]++
	return true
}

func (l *cappedListener) remove(from netip.Addr) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// countedConn is a connection that counts until it is closed. It keeps the methods of
// a TCP connection, by which the server sends files without copying them.
type countedConn struct {
	*net.TCPConn

	release func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
