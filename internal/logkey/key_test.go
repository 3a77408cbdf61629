package logkey_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/logkey"
)

const name = "lineproof.example/log/0/2027"

// verified fails the test unless the checkpoint of the key is signed in the form that
// every program of the field accepts.
func verified(t *testing.T, k *logkey.Key) {
	t.Helper()
	signed, err := k.SignCheckpoint(1000, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	v, err := note.NewVerifier(k.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(v))
	if err != nil || n.Text != name+"\n1000\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n" || len(n.Sigs) != 1 {
		t.Errorf("the note is %q, %v", signed, err)
	}
	if _, err := note.Open([]byte(strings.Replace(signed, "1000", "1001", 1)), note.VerifierList(v)); err == nil {
		t.Error("another size has the same signature")
	}
}

func TestKeyInAFileSignsNotes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	if err := logkey.Create(path); err != nil {
		t.Fatal(err)
	}
	k, err := logkey.Open(t.Context(), path, name)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, k)
	if err := logkey.Create(path); err == nil {
		t.Error("a key was replaced")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := logkey.Open(t.Context(), path, name); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
}

// An agent signs as a file does, and one with several keys is refused.
func TestKeyOfAnAgentSignsNotes(t *testing.T) {
	t.Parallel()
	ring := agent.NewKeyring()
	addKey(t, ring)
	socket := serveAgent(t, ring)
	k, err := logkey.Open(t.Context(), "ssh-agent:"+socket, name)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, k)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	addKey(t, ring)
	if _, err := logkey.Open(t.Context(), "ssh-agent:"+socket, name); err == nil || !strings.Contains(err.Error(), "2 Ed25519 keys") {
		t.Errorf("an agent with two keys: %v", err)
	}
}

func addKey(t *testing.T, ring agent.Agent) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Add(agent.AddedKey{PrivateKey: &key}); err != nil {
		t.Fatal(err)
	}
}

// serveAgent serves the protocol of an ssh-agent on a socket.
func serveAgent(t *testing.T, ring agent.Agent) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
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

// What is not a key says what to do.
func TestWrongFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range map[string]string{"empty": "", "other": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := logkey.Open(t.Context(), path, name); err == nil || !strings.Contains(err.Error(), "lineproof log key") {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := logkey.Open(t.Context(), filepath.Join(dir, "missing"), name); err == nil {
		t.Error("a missing file was opened")
	}
}
