package hashing_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func TestMain(m *testing.M) {
	hashing.Main()
	if os.Getenv(orphanSwitch) != "" {
		haveAProcess()
	}
	m.Run()
}

// The costs of the tests: nothing, and far more than a test takes.
var (
	low     = secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}
	endless = secret.Cost{MemoryKiB: 256 << 10, Time: 16, Threads: 1}
)

func start(t *testing.T) *hashing.Process {
	t.Helper()
	p := hashing.Start(t.Context(), slog.New(slog.DiscardHandler))
	t.Cleanup(p.Close)
	if p.PID() == 0 {
		t.Fatal("the process is not ready")
	}
	return p
}

func derivation(password string, c secret.Cost) secret.Derivation {
	return secret.Derivation{Password: []byte(password), Salt: []byte("sixteen bytes!!!"), Cost: c, KeyLen: 32}
}

// eventually waits until done, or fails the test.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// mustWork waits until the process has been started again and derives keys.
func mustWork(t *testing.T, p *hashing.Process, notPID int) {
	t.Helper()
	eventually(t, "another process", func() bool { return p.PID() != 0 && p.PID() != notPID })
	if _, err := p.Derive(derivation("password", low)); err != nil {
		t.Errorf("the next process: %v", err)
	}
}

func mustBeUnavailable(t *testing.T, err error) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.Unavailable || f.RetryAfter < time.Second {
		t.Errorf("error %v, want Unavailable with the time to wait", err)
	}
}

// The process is another one, and its keys are those of a call: long passwords, empty
// ones, and many at once.
func TestProcessDerivesWhatACallDoes(t *testing.T) {
	t.Parallel()
	p := start(t)
	if p.PID() == os.Getpid() {
		t.Fatal("it is this process")
	}
	done := make(chan struct{})
	passwords := []string{"", "correct horse", strings.Repeat("ọ̀rọ̀", 5000), "a\x00b"}
	for i := range 40 {
		go func() {
			defer func() { done <- struct{}{} }()
			d := derivation(passwords[i%len(passwords)], low)
			d.KeyLen = 16 + i
			got, err1 := p.Derive(d)
			want, err2 := secret.DeriveKey(d)
			if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("Derive = %x, %v; DeriveKey = %x, %v", got, err1, want, err2)
			}
		}()
	}
	for range 40 {
		<-done
	}
}

// Passwords that use the process accept the right password and no other.
func TestRightAndWrongPasswords(t *testing.T) {
	t.Parallel()
	passwords := newPasswords(t)
	passwords.Derive = start(t).Derive
	hash, err := passwords.Hash(t.Context(), uuid.Nil, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		hash     string
		password secret.Text
		want     bool
	}{{hash, "correct horse", true}, {hash, "wrong horse", false}, {hash, "", false}, {"", "correct horse", false}} {
		if got, err := passwords.Matches(tc.hash, uuid.Nil, tc.password); got != tc.want || err != nil {
			t.Errorf("Matches(%q) = %v, %v", tc.password.Reveal(), got, err)
		}
	}
}

// With one slot and one place in the queue the third caller is refused at once,
// however slow the process is, and the first two get their keys.
func TestFullQueueIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	passwords := newPasswords(t)
	passwords.Derive = p.Derive
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := passwords.Hash(t.Context(), uuid.Nil, "password")
			results <- err
		}()
	}
	if err := <-results; !errors.Is(err, secret.ErrBusy) {
		t.Errorf("the third caller: %v", err)
	}
	if passwords.InFlight() != 1 {
		t.Errorf("%d in flight, want 1", passwords.InFlight())
	}
	if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Errorf("a caller who had a place: %v", err)
		}
	}
}

// When the process is killed, requests in flight are unavailable, neither right nor
// wrong, and another process takes over.
func TestKilledProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := start(t)
	for range 2 {
		pid := p.PID()
		inFlight := make(chan error, 1)
		go func() {
			_, err := p.Derive(derivation("password", endless))
			inFlight <- err
		}()
		eventually(t, "work", func() bool { return cpuTicks(t, pid) > 5 })
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		mustBeUnavailable(t, <-inFlight)
		mustWork(t, p, pid)
	}
}

// A process that gives no answer in time is replaced.
func TestStuckProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.SetTimeout(time.Second)
	pid := p.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := p.Derive(derivation("password", low))
	mustBeUnavailable(t, err)
	p.SetTimeout(time.Minute)
	mustWork(t, p, pid)
}

// Input that is not a frame ends the process, and only that.
func TestGarbageEndsTheProcess(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, garbage := range map[string]string{
		"huge length":  "\xff\xff\xff\xff",
		"short frame":  "\x00\x00\x00\x01x",
		"no such cost": "\x00\x00\x00\x0f" + strings.Repeat("\xff", 15),
		"no salt":      "\x00\x00\x00\x0f\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x40\x01\x20\x00",
	} {
		pid := p.PID()
		if _, err := io.WriteString(p.Requests(), garbage); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+": the end of the process", func() bool { return p.PID() != pid })
		mustWork(t, p, pid)
	}
}

// What cannot be sent is refused, and the process does not notice.
func TestImpossibleRequestsAreNotSent(t *testing.T) {
	t.Parallel()
	p := start(t)
	pid := p.PID()
	for _, d := range []secret.Derivation{
		derivation(strings.Repeat("x", 1<<20), low),
		derivation("password", secret.Cost{MemoryKiB: 1 << 30, Time: 1, Threads: 1}),
	} {
		_, err := p.Derive(d)
		mustBeUnavailable(t, err)
	}
	if _, err := p.Derive(derivation("password", low)); err != nil || p.PID() != pid {
		t.Errorf("afterwards: %v in process %d, was %d", err, p.PID(), pid)
	}
}

// A closed Process has no process and answers nobody.
func TestCloseEndsTheProcess(t *testing.T) {
	t.Parallel()
	p := start(t)
	pid := p.PID()
	p.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process still exists: %v", err)
	}
	_, err := p.Derive(derivation("password", low))
	mustBeUnavailable(t, err)
}

func newPasswords(t *testing.T) *secret.Passwords {
	t.Helper()
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	return secret.NewPasswords(peppers, low, 1, 1)
}
