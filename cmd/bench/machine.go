package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine describes where the figures were measured.
type machine struct {
	Cores      int    `json:"cores"`
	Processor  string `json:"processor"`
	MemoryGiB  int64  `json:"memory_gib"`
	System     string `json:"system"`
	PostgreSQL string `json:"postgresql"`
	Go         string `json:"go"`
	Load       string `json:"load"` // of the last minute, at the start of the run
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), MemoryGiB: (memory() + 1<<29) >> 30}
	m.Processor = valueOf("/proc/cpuinfo", "model name")
	m.System = strings.Trim(valueOf("/etc/os-release", "PRETTY_NAME"), `"`)
	load, _ := os.ReadFile("/proc/loadavg") // omitted if it cannot be read
	m.Load, _, _ = strings.Cut(string(load), " ")
	return m
}

// memory returns the machine's memory in bytes, or 0 if it is unknown.
func memory() int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(valueOf("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// valueOf returns the value of a name in a file of names and values, or "".
func valueOf(path, name string) string {
	text, _ := os.ReadFile(path) //nolint:gosec // one of three known files
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, " \t:="))
		}
	}
	return ""
}

// String describes the machine in one line.
func (m machine) String() string {
	parts := []string{strconv.Itoa(m.Cores) + " cores"}
	for _, s := range []string{m.Processor, strconv.FormatInt(m.MemoryGiB, 10) + " GiB", m.System, "PostgreSQL " + m.PostgreSQL, m.Go} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}
