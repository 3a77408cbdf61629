package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/hashing"
)

// Other roles of the test binary, besides running the tests.
const (
	asServer = "serve"  // the command that is measured
	asIdle   = "idle"   // a process that never exits
	asOrphan = "parent" // a parent that is killed
)

// TestMain runs the tests, or the role that a test has requested.
func TestMain(m *testing.M) {
	hashing.Main()
	if code, isChild := runAsChild(); isChild {
		os.Exit(code)
	}
	ctx := context.Background()
	switch os.Getenv(childVariable) {
	case asServer:
		os.Exit(cli.Main(ctx, cli.Env{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	case asIdle:
		select {}
	case asOrphan:
		haveChildren(ctx)
	default:
		m.Run()
	}
}

// The whole tool runs at a tiny size: every variant is measured, each answer of
// verify is in the journal, and the page is written.
func TestWholeToolAtATinySize(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte(beginMark+"\n"+endMark+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := []string{
		"-lines", "20000", "-rounds", "1", "-seconds", "1", "-c", "8", "-skip", variantOneRowMany, "-grow-lines", "10000",
		"-open", "50", "-for", "1s", "-open-c", "8", "-json", "-write", page, "-server", self, "-set", childVariable + "=" + asServer,
	}
	if code := run(t.Context(), args, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d:\n%s", code, errs.String())
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	var found []string
	for _, f := range r.Variants {
		found = append(found, f.Variant)
		if f.Rate.Median <= 0 || f.P50.Median <= 0 || f.P99.Median < f.P50.Median || f.Failed > 0 {
			t.Errorf("%s: %+v", f.Variant, f)
		}
		if overHTTP := !strings.HasPrefix(f.Variant, variantOneRow); overHTTP != (f.ServiceCPU.Median > 0) {
			t.Errorf("%s: a service used %v µs per request", f.Variant, f.ServiceCPU.Median)
		}
		// CPU is counted in steps of 10 ms, and in a second in which the disk stalls
		// PostgreSQL may do too little for one.
		if f.Variant != variantBare && f.PostgresCPU.Median <= 0 && f.Rate.Median > 100 {
			t.Errorf("%s: PostgreSQL used no CPU", f.Variant)
		}
	}
	if want := []string{variantBare, variantVerify, variantRedis, variantUnbatched, variantOneRow, variantBatch}; !slices.Equal(found, want) {
		t.Errorf("measured %v, want %v", found, want)
	}
	if len(r.Ratios) != len(goals) || len(r.GrowLines) != 1 || r.GrowLines[0].Lines != 10_000 {
		t.Errorf("ratios %+v, growth %+v", r.Ratios, r.GrowLines)
	}
	if r.Open == nil || r.Open.Tally.Answered != r.Open.Tally.Due || r.Open.Tally.Due != 50 {
		t.Errorf("the constant rate: %+v", r.Open)
	}
	if r.Answers == 0 || r.Records < r.Answers {
		t.Errorf("%d answers, %d records", r.Answers, r.Records)
	}
	written, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(written), "| verify | 8 |") {
		t.Errorf("the page: %v\n%s", err, written)
	}
}

// The bare server sends the canned response byte for byte, and refuses invalid
// requests.
func TestBareServerSendsTheCannedResponse(t *testing.T) {
	t.Parallel()

	canned := cannedResponse{Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"abc"}}, Body: []byte(`{"a":"b"}` + "\n")}
	c, err := startChild(t.Context(), "bare", canned)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	var at bareAddress
	if err := c.read(t.Context(), 20*time.Second, &at); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]int{
		`{"phoneNumber":"+2348010000000"}`: http.StatusOK, `{"phoneNumber":"1","phoneNumber":"2"}`: http.StatusBadRequest,
		`{"PhoneNumber":"1"}`: http.StatusBadRequest, `{"phoneNumber":"1","x":1}`: http.StatusBadRequest, `{`: http.StatusBadRequest,
	} {
		resp, err := http.Post("http://"+at.Address+verifyPath, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s: status %d, %v, want %d", body, resp.StatusCode, err, want)
		}
		if want == http.StatusOK && (!bytes.Equal(got, canned.Body) || resp.Header.Get("X-Request-Id") != "abc" || resp.ContentLength != int64(len(canned.Body))) {
			t.Errorf("%s: %s with %v", body, got, resp.Header)
		}
	}
}

// haveChildren starts one child of each kind, prints their process ids, and waits
// to be killed.
func haveChildren(ctx context.Context) {
	dir := os.Getenv("BENCH_DIR")
	self, err1 := os.Executable()
	_, err2 := startSupervisor(ctx, janitorScript, filepath.Join(dir, "gone"))
	s, err3 := startSupervisorIn(ctx, dir, []string{childVariable + "=" + asIdle}, serviceScript, self, filepath.Join(dir, "log"))
	c, err4 := startChild(ctx, "bare", cannedResponse{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		panic(err)
	}
	var service int
	var at bareAddress // once it has sent this, only closing its input stops it
	if _, err := fmt.Fscan(s.out, &service); err != nil {
		panic(err)
	}
	if err := c.read(ctx, 20*time.Second, &at); err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(os.Stdout, service, c.cmd.Process.Pid, s.cmd.Process.Pid)
	select {}
}

// In whatever way the tool ends, its children exit and its directory is removed.
func TestNothingOutlivesAKilledParent(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "gone"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+asOrphan, "BENCH_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids [3]int
	_, err = fmt.Fscan(out, &pids[0], &pids[1], &pids[2])
	for _, pid := range pids {
		if err == nil && !alive(pid) {
			t.Errorf("process %d did not run", pid)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
	if err != nil {
		t.Fatal(err)
	}
	left := func() []int {
		return slices.DeleteFunc(slices.Clone(pids[:]), func(pid int) bool { return !alive(pid) })
	}
	removed := func() bool {
		_, err := os.Stat(filepath.Join(dir, "gone"))
		return os.IsNotExist(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(left()) > 0 || !removed(); <-time.After(tick) {
		if time.Now().After(deadline) {
			t.Errorf("still running: %v; directory removed: %v", left(), removed())
			for _, pid := range left() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // a failed test must not leave processes behind
			}
			return
		}
	}
}
