package inspect_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/testing/corpus"
)

// asFile writes a sample to a file that is removed after the test.
func asFile(t *testing.T, data []byte) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	return f
}

// pick returns every n-th sample of each kind.
func pick(every int) (samples []corpus.Sample) {
	for _, all := range []func(func(corpus.Sample) bool){corpus.Hostile(), corpus.Honest()} {
		n := 0
		for s := range all {
			if n++; n%every == 0 {
				samples = append(samples, s)
			}
		}
	}
	return samples
}

// A separate process has the same result for a file as a direct call.
func TestProcessJudgesAsACallDoes(t *testing.T) {
	t.Parallel()
	for _, s := range pick(97) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var i inspect.Inspector
			err := i.Inspect(t.Context(), asFile(t, s.Data), s.MediaType)
			if want := code(inspectFile(s)); code(err) != want {
				t.Errorf("the process says %q, a call %q", code(err), want)
			}
		})
	}
}

// If the process exceeds a limit, crashes or has invalid output, the file is
// refused, and nothing else happens.
func TestProcessThatFailsRefusesTheFile(t *testing.T) {
	t.Parallel()
	honest := first(t, corpus.Honest(), "png of A4 at 300 dots to the inch")
	for name, tc := range map[string]struct {
		inspector inspect.Inspector
		want      error
	}{
		"little memory":        {inspect.Inspector{MemoryBytes: 48 << 20}, inspect.Unreadable},
		"a crash":              {inspect.Inspector{Command: shell("kill -SEGV $$")}, inspect.Unreadable},
		"a failure":            {inspect.Inspector{Command: shell("exit 3")}, inspect.Unreadable},
		"silence":              {inspect.Inspector{Command: shell("exit 0")}, inspect.Unreadable},
		"nonsense":             {inspect.Inspector{Command: shell("echo very clean")}, inspect.Unreadable},
		"clean, and a failure": {inspect.Inspector{Command: shell("printf clean; exit 1")}, inspect.Unreadable},
		"clean, and more":      {inspect.Inspector{Command: shell("printf clean; yes | head -c 1000000")}, inspect.Unreadable},
		"no end of words":      {inspect.Inspector{Command: shell("yes | head -c 10000000"), Timeout: time.Minute}, inspect.Unreadable},
		"little time":          {inspect.Inspector{Timeout: time.Millisecond, Clock: 5 * time.Minute}, nil}, // whole seconds are counted
		"a known reason":       {inspect.Inspector{Command: shell("printf polyglot")}, inspect.Polyglot},
		"no end":               {inspect.Inspector{Command: shell("ulimit -t 1; while :; do :; done"), Timeout: time.Second, Clock: 5 * time.Minute}, inspect.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.inspector.Inspect(t.Context(), asFile(t, honest.Data), honest.MediaType)
			if !errors.Is(err, tc.want) {
				t.Errorf("Inspect = %v, want %v", err, tc.want)
			}
		})
	}
}

func isRefusal(err error) bool {
	var refusal *inspect.Refusal
	return errors.As(err, &refusal)
}

func shell(script string) []string { return []string{"/bin/sh", "-c", script, "sh"} }

func first(t *testing.T, all func(func(corpus.Sample) bool), name string) (found corpus.Sample) {
	t.Helper()
	for s := range all {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no sample %q", name)
	return found
}

// If the process is ended from outside, the file is neither clean nor refused.
func TestProcessThatIsKilledJudgesNothing(t *testing.T) {
	t.Parallel()
	honest := first(t, corpus.Honest(), "png with words")
	f := asFile(t, honest.Data)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, tc := range map[string]struct {
		ctx       context.Context
		inspector inspect.Inspector
	}{
		"no such program":      {t.Context(), inspect.Inspector{Command: []string{"/does/not/exist"}}},
		"killed":               {t.Context(), inspect.Inspector{Command: shell("kill -KILL $$")}},
		"killed after clean":   {t.Context(), inspect.Inspector{Command: shell("printf clean; kill -KILL $$")}},
		"no time on the clock": {t.Context(), inspect.Inspector{Command: shell("exec sleep 600"), Clock: 100 * time.Millisecond}},
		"the caller gives up":  {stopped, inspect.Inspector{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.inspector.Inspect(tc.ctx, f, honest.MediaType)
			if err == nil || isRefusal(err) {
				t.Errorf("Inspect = %v, want an error that is no refusal", err)
			}
		})
	}
}

// A file is inspected from its start whatever its offset, and the process does not
// get the caller's secrets.
func TestProcessGetsTheFileAndNothingElse(t *testing.T) {
	t.Setenv("LINEPROOF_TEST_SECRET", "hunter2")
	honest := first(t, corpus.Honest(), "png with words")
	f := asFile(t, honest.Data)
	if _, err := f.Seek(7, 0); err != nil {
		t.Fatal(err)
	}
	var i inspect.Inspector
	if err := i.Inspect(t.Context(), f, honest.MediaType); err != nil {
		t.Errorf("a file with another offset: %v", err)
	}
	if at, err := f.Seek(0, 1); err != nil || at != 7 {
		t.Errorf("the offset is %d afterwards, want 7", at)
	}
	out := filepath.Join(t.TempDir(), "env")
	i.Command = shell("env > " + out + "; ls /proc/$$/fd >> " + out + "; printf clean")
	if err := i.Inspect(t.Context(), f, honest.MediaType); err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(seen), "LINEPROOF") {
		t.Errorf("the process saw %q (%v)", seen, err)
	}
}

// No file, however hostile, makes its process exceed the limits of memory and time.
func TestBombsStayWithinTheLimits(t *testing.T) {
	t.Parallel()
	const memory = 512 << 20
	for s := range corpus.Hostile() {
		if !slices.Contains(s.Codes, "too_complex") || !slices.Contains(s.Codes, "unreadable") {
			continue // no bomb
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			peak := filepath.Join(t.TempDir(), "peak")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			// The shell's own size is that of the largest of its children, too.
			i := inspect.Inspector{
				Command:     []string{self, "-lineproof.measure=" + peak},
				MemoryBytes: memory, Timeout: time.Minute,
			}
			if err := i.Inspect(t.Context(), asFile(t, s.Data), s.MediaType); !slices.Contains(append(s.Codes, "unreadable"), code(err)) {
				t.Errorf("Inspect = %v, want one of %v", err, s.Codes)
			}
			kib := readPeak(t, peak)
			if kib > memory>>10 {
				t.Errorf("the process took %d MiB, want at most %d", kib>>10, memory>>20)
			}
		})
	}
}

func readPeak(t *testing.T, path string) int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// measured runs this program again with the arguments behind the first, and
// writes its maximum memory in KiB.
func measured(path string, args []string) int {
	process, err := os.StartProcess("/proc/self/exe", append(os.Args[:1:1], args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Env: os.Environ(),
	})
	if err != nil {
		return 75
	}
	state, err := process.Wait()
	if err != nil {
		return 75
	}
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || os.WriteFile(path, []byte(strconv.FormatInt(usage.Maxrss, 10)), 0o600) != nil {
		return 75
	}
	return max(state.ExitCode(), 0)
}
