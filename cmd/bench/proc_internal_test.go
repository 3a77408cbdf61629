package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The name of a program may look like the rest of the line.
func TestStatIsParsedAfterTheName(t *testing.T) {
	t.Parallel()

	got, err := parseStat("77 (a (b) R 1 2) S 42 77 77 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 100 0 0")
	want := stat{parent: 42, state: 'S', own: 2 * time.Second, reaped: 500 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{"", "77 (a) S 42", "no brackets at all", "77 (a) S x 77 77 0 -1 4194560 1 2 3 4 150 50 30 20 20 0"} {
		if got, err := parseStat(text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

// burn uses the CPU for about the given time.
func burn(d time.Duration) {
	for end := ownCPU() + d; ownCPU() < end; {
	}
}

// The CPU of this process in /proc agrees with getrusage.
func TestProcAgreesWithGetrusage(t *testing.T) {
	t.Parallel()

	burn(100 * time.Millisecond)
	before := ownCPU()
	got, err := processCPU(os.Getpid())
	after := ownCPU()
	if err != nil || got < before-3*tick || got > after+3*tick {
		t.Errorf("/proc has %v, %v; getrusage %v to %v", got, err, before, after)
	}
}

// familyCPU counts running children and those that have ended.
func TestFamilyCountsChildrenThatEnded(t *testing.T) {
	t.Parallel()

	// The shell is the parent; its two children use CPU, one after the other.
	const script = `
		(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done)
		echo ended; read -r _
		(i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done) & echo $!
		read -r _; kill $!`
	cmd := exec.Command("sh", "-c", script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait() // the shell exits because its input is closed
	}()
	var word string
	if _, err := fmt.Fscan(out, &word); err != nil {
		t.Fatal(err)
	}
	head, err := readStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := familyCPU(cmd.Process.Pid)
	if err != nil || head.reaped < tick || ended != head.own+head.reaped {
		t.Errorf("after a child ended: %v, %v; its parent shows %+v", ended, err, head)
	}
	if _, err := fmt.Fprintln(in); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(tick) {
		both, err := familyCPU(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if both >= ended+5*tick {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a running child is not counted: %v, before it %v", both, ended)
		}
	}
	if !alive(child) {
		t.Error("the running child is not alive")
	}
}

// The machine's CPU times are parsed as documented, and those of this machine add
// up.
func TestMachineTimes(t *testing.T) {
	t.Parallel()

	got, err := parseMachine("cpu  100 20 30 400 50 6 7 8 99 1\ncpu0 1 2 3\n")
	want := machineTime{busy: 171 * tick, interrupts: 13 * tick, stolen: 8 * tick, all: 621 * tick}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err := parseMachine("intr 1 2 3 4 5 6 7 8 9\n"); err == nil {
		t.Errorf("another line was parsed as %+v", got)
	}
	before, err := readMachine()
	if err != nil {
		t.Fatal(err)
	}
	burn(100 * time.Millisecond)
	after, err := readMachine()
	if err != nil {
		t.Fatal(err)
	}
	if used := after.busy - before.busy; used < 50*time.Millisecond || after.all-before.all < used {
		t.Errorf("while 100 ms of CPU were used, the machine was busy for %v of %v", used, after.all-before.all)
	}
}

// The CPU of our own processes is not other work, and is divided by the requests.
func TestWindowIsCharged(t *testing.T) {
	t.Parallel()

	at := time.Now()
	w := window{
		begin: sample{at: at},
		end: sample{
			at: at.Add(10 * time.Second), service: 4 * time.Second, postgres: 2 * time.Second, rest: time.Second, generator: time.Second,
			machine: machineTime{busy: 15 * time.Second, interrupts: time.Second, stolen: 2 * time.Second, all: 20 * time.Second},
		},
	}
	var got measurement
	w.charge(&got, 100_000, 2*time.Second)
	want := measurement{ServiceCPU: 40, PostgresCPU: 20, GeneratorCPU: 30, Other: 0.25, Interrupts: 0.05, Stolen: 0.1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if w.length() != 10*time.Second {
		t.Errorf("the window is %v long", w.length())
	}
}
