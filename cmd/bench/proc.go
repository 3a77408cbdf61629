package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: 1/100 s on every Linux machine, whatever
// the kernel's internal clock rate is.
const tick = 10 * time.Millisecond

// stat is the part of /proc/PID/stat that is read.
type stat struct {
	parent int
	state  byte
	own    time.Duration // CPU of the process itself
	reaped time.Duration // CPU of its children that have ended
}

var errStat = errors.New("bench: unknown format of a file in /proc")

// parseStat reads the text of /proc/PID/stat. The name of the program is in
// parentheses and may itself contain spaces and parentheses.
func parseStat(text string) (s stat, err error) {
	i := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[i+1:])
	if i < 0 || len(fields) < 15 {
		return stat{}, errStat
	}
	s.state = fields[0][0]
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return stat{}, errStat
	}
	var ticks [4]int64 // user, system, and the same of children that were waited for
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return stat{}, errStat
		}
	}
	s.own, s.reaped = time.Duration(ticks[0]+ticks[1])*tick, time.Duration(ticks[2]+ticks[3])*tick
	return s, nil
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("bench: read process %d: %w", pid, err)
	}
	return parseStat(string(text))
}

// alive reports whether a process still runs. A zombie does not.
func alive(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state != 'Z' && s.state != 'X'
}

// processCPU returns the CPU that a process has used.
func processCPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	return s.own, err
}

// familyCPU returns the CPU that a process and its children, including those that
// have ended, have used. If a child ends during the reading, it reads again: that
// child would be missing, or counted twice.
func familyCPU(pid int) (time.Duration, error) {
	for range 20 {
		before, err := readStat(pid)
		if err != nil {
			return 0, err
		}
		children, err := childrenCPU(pid)
		if err != nil {
			return 0, err
		}
		after, err := readStat(pid)
		if err != nil {
			return 0, err
		}
		if before.reaped == after.reaped {
			return after.own + after.reaped + children, nil
		}
	}
	return 0, fmt.Errorf("bench: the children of process %d start and end too fast to be counted", pid)
}

func childrenCPU(pid int) (sum time.Duration, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("bench: list the processes: %w", err)
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}
		if s, err := readStat(id); err == nil && s.parent == pid { // it may have ended since the listing
			sum += s.own + s.reaped
		}
	}
	return sum, nil
}

// machineTime is the time of all processors together since the machine started.
type machineTime struct {
	busy       time.Duration // all but idle: work, interrupts and stolen time
	interrupts time.Duration
	stolen     time.Duration // by other guests of the same host
	all        time.Duration
}

// parseMachine reads the first line of /proc/stat.
func parseMachine(text string) (m machineTime, err error) {
	first, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 || fields[0] != "cpu" {
		return m, errStat
	}
	var t [8]time.Duration // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already
	for i := range t {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return m, errStat
		}
		t[i] = time.Duration(n) * tick
		m.all += t[i]
	}
	m.busy, m.interrupts, m.stolen = m.all-t[3]-t[4], t[5]+t[6], t[7]
	return m, nil
}

func readMachine() (machineTime, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machineTime{}, fmt.Errorf("bench: read the machine's CPU times: %w", err)
	}
	return parseMachine(string(text))
}
