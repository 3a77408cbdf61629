package logkey_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/mldsa"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
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
	socket := logtest.ServeAgent(t, ring)
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

// A checkpoint has the signatures of the next key and of one that withstands quantum
// computers, too, in the form of c2sp.org/tlog-cosignature. Who knows one key verifies it.
func TestSeveralKeysSignACheckpoint(t *testing.T) {
	t.Parallel()
	k, next := logtest.NewKey(t, name), logtest.NewKey(t, name)
	file := filepath.Join(t.TempDir(), "mldsa")
	if err := logkey.CreatePostQuantum(file); err != nil {
		t.Fatal(err)
	}
	pq, err := logkey.OpenPostQuantum(file, name)
	if err != nil {
		t.Fatal(err)
	}
	k.SignWith(next, pq)
	root := bytes.Repeat([]byte{7}, 32)
	signed, err := k.SignCheckpoint(1000, root)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []*logkey.Key{k, next} {
		v, err := note.NewVerifier(key.Verifier())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := note.Open([]byte(signed), note.VerifierList(v)); err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 2 {
			t.Errorf("%v: %s", err, signed)
		}
	}
	lines := strings.Split(strings.TrimSpace(signed), "\n")
	verifyPostQuantum(t, pq.Verifier(), lines[len(lines)-1], root)
	if len(signed) > 3700 || len(checkpoint.WithoutPostQuantum(signed)) > 400 || strings.Count(checkpoint.WithoutPostQuantum(signed), "\u2014") != 2 {
		t.Errorf("the note has %d bytes, and %d without the long signature", len(signed), len(checkpoint.WithoutPostQuantum(signed)))
	}
	if _, err := logkey.Open(t.Context(), file, name); err == nil {
		t.Error("an ML-DSA key was opened as an Ed25519 key")
	}
	if note, err := k.SignNote("lineproof key 1\n"); err != nil || strings.Count(note, "\u2014") != 2 {
		t.Errorf("another note than a checkpoint: %v: %s", err, note)
	}
}

// verifyPostQuantum verifies a line by the specification, to the byte.
func verifyPostQuantum(t *testing.T, verifier, line string, root []byte) {
	t.Helper()
	parts := strings.Split(verifier, "+")
	public, err := base64.StdEncoding.DecodeString(strings.Join(parts[2:], "+"))
	if err != nil || public[0] != 6 {
		t.Fatalf("%v: %s", err, verifier)
	}
	key, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public[1:])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(line[strings.LastIndex(line, " ")+1:])
	if err != nil || len(raw) != 4+8+2420 || hex.EncodeToString(raw[:4]) != parts[1] {
		t.Fatalf("%v: %s", err, line)
	}
	message := "subtree/v1\n\x00" + "\x1c" + name + string(raw[4:12]) + "\x1c" + name + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x03\xe8" + string(root)
	if err := mldsa.Verify(key, []byte(message), raw[12:], nil); err != nil {
		t.Error(err)
	}
	if mldsa.Verify(key, []byte(message+"x"), raw[12:], nil) == nil {
		t.Error("another message has the same signature")
	}
}
