package main

import (
	"context"
	"fmt"
	"time"
)

// target is a server to measure.
type target struct {
	variant string
	address string
	pid     int
}

// warmUp is how long requests are sent before the measurement starts.
func warmUp(window time.Duration) time.Duration { return min(time.Second, window/4) }

// measureHTTP runs the load generator and measures the processes. With a rate of
// 0 each caller sends its next request when it has the response.
func (b *bench) measureHTTP(ctx context.Context, t target, callers int, rate float64, length time.Duration) (m measurement, seen tally, err error) {
	j := job{
		Address: t.address, Key: b.testbed.key.Text.Reveal(), First: firstNumber, Lines: b.testbed.lines, Callers: callers,
		Warm: warmUp(length), Window: length, Rate: rate,
	}
	c, err := startChild(ctx, "generate", j)
	if err != nil {
		return m, seen, err
	}
	defer c.stop()
	processes := watch{service: t.pid, postgres: b.testbed.postgres, rest: b.ownProcesses()}
	var passed window
	if passed.begin, err = c.await(ctx, &processes, eventBegin, j.Warm+30*time.Second); err != nil {
		return m, seen, err
	}
	if passed.end, err = c.await(ctx, &processes, eventEnd, length+30*time.Second); err != nil {
		return m, seen, err
	}
	var last message
	if err := c.read(ctx, 2*responseTimeout+10*time.Second, &last); err != nil {
		return m, seen, err
	}
	if last.Tally == nil {
		return m, seen, fmt.Errorf("bench: the generator sent %q without a tally", last.Event)
	}
	seen = *last.Tally
	if t.variant != variantBare {
		b.answers += seen.Total
	}
	if seen.Answered == 0 {
		return m, seen, fmt.Errorf("bench: no request was answered: %d refused, %d failed: %s", seen.Refused, seen.Failed, seen.Example)
	}
	m = measurement{
		Variant: t.variant, Clients: callers, Lines: b.testbed.lines, Rate: float64(seen.Answered) / seen.Window.Seconds(),
		Latencies: seen.Latencies, Refused: seen.Refused, Failed: seen.Failed,
	}
	passed.charge(&m, float64(seen.Answered), seen.CPU)
	return m, seen, nil
}

// await reads the message with that event from the generator, and then samples
// the processes.
func (c *child) await(ctx context.Context, processes *watch, event string, timeout time.Duration) (sample, error) {
	var m message
	if err := c.read(ctx, timeout, &m); err != nil {
		return sample{}, err
	}
	if m.Event != event {
		return sample{}, fmt.Errorf("bench: the generator sent %q instead of %q", m.Event, event)
	}
	return processes.sample()
}

// growCallers measures verify with increasing numbers of callers.
func (b *bench) growCallers(ctx context.Context) error {
	if len(b.options.growC) == 0 {
		return nil
	}
	found := make([][]measurement, len(b.options.growC))
	rounds := max(b.options.rounds, 1)
	progress := b.display.start("measure growth with callers", int64(rounds*len(found)))
	for range rounds {
		for i, callers := range b.options.growC {
			m, err := b.measureVerify(ctx, int(callers))
			if err != nil {
				return err
			}
			found[i] = append(found[i], m)
			b.display.printf("%d callers: %s", callers, m.line())
			progress.add(1)
		}
	}
	for _, all := range found {
		b.report.GrowCallers = append(b.report.GrowCallers, newFigures(all))
	}
	return nil
}

// growLines measures verify with the current number of lines.
func (b *bench) growLines(ctx context.Context, lines int64) error {
	rounds := max(b.options.rounds, 1)
	progress := b.display.start("measure at "+grouped(float64(lines))+" lines", int64(rounds))
	var all []measurement
	for range rounds {
		m, err := b.measureVerify(ctx, b.options.callers)
		if err != nil {
			return err
		}
		all = append(all, m)
		b.display.printf("%s lines: %s", grouped(float64(lines)), m.line())
		progress.add(1)
	}
	b.report.GrowLines = append(b.report.GrowLines, newFigures(all))
	return nil
}

func (b *bench) measureVerify(ctx context.Context, callers int) (measurement, error) {
	m, _, err := b.measureHTTP(ctx, target{variantVerify, b.verify.address, b.verify.pid}, callers, 0, time.Duration(b.options.seconds)*time.Second)
	return m, err
}
