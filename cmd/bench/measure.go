package main

import (
	"errors"
	"os"
	"time"
)

// The variants that are compared.
const (
	variantBare       = "bare"
	variantOneRow     = "pgbench"
	variantOneRowMany = "pgbench-c"
	variantBatch      = "pgbench-100"
	variantVerify     = "verify"
	variantUnbatched  = "unbatched"
	variantRedis      = "redis"
	variantAgainst    = "against"
)

// measurement is one variant in one round. CPU is in microseconds per request;
// shares are of the whole machine.
type measurement struct {
	Variant      string    `json:"variant"`
	Round        int       `json:"round"`
	Clients      int       `json:"clients"`
	Lines        int64     `json:"lines"`
	Rate         float64   `json:"rate"` // answers per second; for batches rows per second
	Latencies    latencies `json:"latencies"`
	ServiceCPU   float64   `json:"service_cpu_us"`
	PostgresCPU  float64   `json:"postgres_cpu_us"`
	GeneratorCPU float64   `json:"generator_cpu_us"`
	Refused      uint64    `json:"refused"` // 503
	Failed       uint64    `json:"failed"`  // any other response but 200, or none
	Other        float64   `json:"other_work"`
	Interrupts   float64   `json:"interrupts"`
	Stolen       float64   `json:"stolen"`
}

// sample is the CPU that the processes have used up to a moment.
type sample struct {
	at                time.Time
	service, postgres time.Duration
	rest              time.Duration // our other processes: this one, and servers that are idle
	generator         time.Duration // zero if the generator measures itself
	machine           machineTime
}

// watch has the ids of the processes to sample. 0 means none.
type watch struct {
	service, postgres, generator int
	rest                         []int
}

func (w *watch) sample() (s sample, err error) {
	var errs []error
	read := func(pid int, of func(int) (time.Duration, error)) time.Duration {
		if pid == 0 {
			return 0
		}
		used, err := of(pid)
		errs = append(errs, err)
		return used
	}
	s.at = time.Now()
	s.service, s.postgres, s.generator = read(w.service, processCPU), read(w.postgres, familyCPU), read(w.generator, processCPU)
	for _, pid := range append([]int{os.Getpid()}, w.rest...) {
		if pid != w.service {
			s.rest += read(pid, processCPU)
		}
	}
	s.machine, err = readMachine()
	return s, errors.Join(append(errs, err)...)
}

// window is the time between two samples.
type window struct {
	begin, end sample
}

func (w *window) length() time.Duration { return w.end.at.Sub(w.begin.at) }

// charge divides the CPU that was used by the number of requests. The generator's
// CPU is given if the generator measures itself.
func (w *window) charge(m *measurement, requests float64, generator time.Duration) {
	b, e := &w.begin, &w.end
	generator += e.generator - b.generator
	each := func(d time.Duration) float64 {
		if requests <= 0 {
			return 0
		}
		return float64(d) / float64(time.Microsecond) / requests
	}
	m.ServiceCPU, m.PostgresCPU, m.GeneratorCPU = each(e.service-b.service), each(e.postgres-b.postgres), each(generator)

	all := e.machine.all - b.machine.all
	share := func(d time.Duration) float64 {
		if all <= 0 {
			return 0
		}
		return max(float64(d)/float64(all), 0)
	}
	ours := e.service - b.service + e.postgres - b.postgres + e.rest - b.rest + generator
	m.Other = share(e.machine.busy - b.machine.busy - ours)
	m.Interrupts, m.Stolen = share(e.machine.interrupts-b.machine.interrupts), share(e.machine.stolen-b.machine.stolen)
}
