package logtest

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh/agent"
)

// ServeAgent serves the protocol of an ssh-agent, and returns the path of its socket.
func ServeAgent(tb testing.TB, ring agent.Agent) string {
	tb.Helper()
	socket := filepath.Join(tb.TempDir(), "agent")
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "unix", socket)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	return socket
}
