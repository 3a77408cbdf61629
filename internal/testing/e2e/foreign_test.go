package e2e_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/receipt"
)

// Programs of others read the log: a witness of another kind signs its checkpoints,
// torchwood's client reads every entry and its verifier accepts the proofs of receipts, and
// Tessera's fsck finds every tile and bundle in order. They find what was altered, too.
func TestForeignReaders(t *testing.T) {
	bin := buildForeign(t)
	w, book := newFixture(t, pgtest.URL(t)), newLedger(t)
	key, file := logtest.NewKeyFile(t, logOrigin)
	address, witness := startLitewitness(t, bin, key.Verifier())
	policyText := fmt.Sprintf("log %s\nwitness lite %s http://%s\nquorum lite\n", key.Verifier(), witness, address)
	policyFile := filepath.Join(t.TempDir(), "policy")
	writeText(t, policyFile, policyText)
	p := start(t, w, "LINEPROOF_LOG_ORIGIN="+logOrigin, "LINEPROOF_LOG_KEY="+file, "LINEPROOF_LOG_POLICY="+policyFile)

	stop := make(chan struct{})
	wait := rush(t, w, p.public, book, killWorkers, stop)
	<-time.After(4 * time.Second) // more than 256 batches
	close(stop)
	wait()

	policy := must(receipt.ParsePolicy(policyText))(t)
	var proofs []string
	entries := map[int64][]byte{}
	for _, e := range book.read(t) {
		if e.sent.Asked == nil || e.outcome() != okay || len(proofs) == 50 {
			continue
		}
		r, v := witnessedReceipt(t, p, w, policy, e.answered().Told.RequestID)
		b := logentry.Batch{At: time.UnixMilli(r.Batch.At), Epoch: r.Batch.Epoch, N: r.Batch.N, Count: r.Batch.Count, Root: [32]byte(r.Batch.Root)}
		entries[v.Index] = b.Encode()
		proofs = append(proofs, filepath.Join(t.TempDir(), "proof"))
		writeText(t, proofs[len(proofs)-1], r.Proof)
	}
	base := "http://" + p.public + strings.TrimSuffix(logPath, "/")
	var read struct {
		Size    int64
		Entries map[int64][]byte
	}
	out := foreign(t, bin, append([]string{"read", base, policyFile}, proofs...)...)
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	for i, entry := range entries {
		if !slices.Equal(read.Entries[i], entry) {
			t.Errorf("entry %d is %x, and of the receipt %x", i, read.Entries[i], entry)
		}
	}
	foreign(t, bin, "fsck", base, key.Verifier())
	t.Logf("torchwood and Tessera read %d entries, and %d proofs were verified", read.Size, len(proofs))
	if read.Size <= 256 || len(proofs) < 50 {
		t.Errorf("that is too little to show something")
	}

	// A control: an altered proof and the key of another log.
	writeText(t, proofs[0], strings.Replace(string(must(os.ReadFile(proofs[0]))(t)), "\nindex ", "\nindex 1", 1))
	if err := exec.CommandContext(t.Context(), filepath.Join(bin, "foreign"), "read", base, policyFile, proofs[0]).Run(); err == nil {
		t.Error("an altered proof is accepted")
	}
	if err := exec.CommandContext(t.Context(), filepath.Join(bin, "foreign"), "fsck", base, logtest.NewKey(t, logOrigin).Verifier()).Run(); err == nil {
		t.Error("another key is accepted")
	}
}

// witnessedReceipt asks for a receipt until the witness has signed what covers it.
func witnessedReceipt(t *testing.T, p *instance, w *fixture, policy *receipt.Policy, id string) (*receipt.Receipt, *receipt.Verified) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(200 * time.Millisecond) {
		var r *receipt.Receipt
		var v *receipt.Verified
		text := download(t, p.public, receiptOf(id), w.key.Text.Reveal())
		if r, err = receipt.Parse(text); err != nil {
			t.Fatal(err)
		}
		if v, err = r.Verify(policy); err == nil {
			return r, v
		}
	}
	t.Fatalf("no receipt of %s that the witness has seen: %v", id, err)
	return nil, nil
}

// buildForeign builds the programs of others, which are in a module of their own, and
// returns their folder.
func buildForeign(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-C", "testdata/foreign", "-trimpath", "-o", bin, ".", "filippo.io/torchwood/cmd/litewitness")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

func foreign(t *testing.T, bin string, args ...string) []byte {
	t.Helper()
	var complaint strings.Builder
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "foreign"), args...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("foreign %s: %v\n%s", args[0], err, complaint.String())
	}
	return out
}

// startLitewitness runs torchwood's witness for a log, with a key in an ssh-agent, and
// returns its address and its public key.
func startLitewitness(t *testing.T, bin, log string) (address, key string) {
	t.Helper()
	dir := t.TempDir()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := agent.NewKeyring()
	if err := keys.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	socket := must((&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s")))(t)
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return // the test is over
			}
			go func() { _ = agent.ServeAgent(keys, conn) }()
		}
	}()
	free := must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	address = free.Addr().String()
	_ = free.Close()
	foreign(t, bin, "witness", filepath.Join(dir, "db"), log)
	out := must(os.Create(filepath.Join(dir, "log")))(t)
	fingerprint := ssh.FingerprintSHA256(must(ssh.NewSignerFromKey(private))(t).PublicKey())
	child := must(process.Run(exec.Command(filepath.Join(bin, "litewitness"), "-name", "lite.example", "-db", filepath.Join(dir, "db"), "-ssh-agent", filepath.Join(dir, "s"), "-listen", address, "-key", fingerprint), out))(t)
	t.Cleanup(child.Kill)
	said := regexp.MustCompile(`vkey=(\S+)`)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		text := string(must(os.ReadFile(out.Name()))(t))
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if m := said.FindStringSubmatch(text); m != nil && err == nil {
			_ = conn.Close()
			return address, strings.Trim(m[1], `"`)
		}
		if time.Now().After(deadline) {
			t.Fatalf("litewitness does not start: %v\n%s", err, text)
		}
	}
}

func writeText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
