package main

import (
	"context"
	"fmt"
	"time"
)

// target is a server that is asked.
type target struct {
	variant string
	address string
	pid     int
}

// warmUp is how long is asked before anything counts.
func warmUp(window time.Duration) time.Duration { return min(time.Second, window/4) }

// ask lets the generator ask and measures meanwhile. A rate of 0 means that each
// caller asks again when it is answered.
func (b *bench) ask(ctx context.Context, t target, callers int, rate float64, length time.Duration) (m measurement, seen tally, err error) {
	j := job{
		Address: t.address, Key: b.world.key.Text.Reveal(), First: firstNumber, Lines: b.world.lines, Callers: callers,
		Warm: warmUp(length), Window: length, Rate: rate,
	}
	c, err := startChild(ctx, "generate", j)
	if err != nil {
		return m, seen, err
	}
	defer c.stop()
	look := watch{service: t.pid, postgres: b.world.postgres, rest: b.ours()}
	var passed window
	if passed.begin, err = c.await(ctx, &look, eventBegin, j.Warm+30*time.Second); err != nil {
		return m, seen, err
	}
	if passed.end, err = c.await(ctx, &look, eventEnd, length+30*time.Second); err != nil {
		return m, seen, err
	}
	var last message
	if err := c.read(ctx, 2*patience+10*time.Second, &last); err != nil {
		return m, seen, err
	}
	if last.Tally == nil {
		return m, seen, fmt.Errorf("bench: the generator says %q and no tally", last.Event)
	}
	seen = *last.Tally
	if t.variant != variantBare {
		b.told += seen.Ever
	}
	if seen.Answered == 0 {
		return m, seen, fmt.Errorf("bench: nothing was answered: %d refused, %d failed: %s", seen.Refused, seen.Failed, seen.Example)
	}
	m = measurement{
		Variant: t.variant, Clients: callers, Lines: b.world.lines, Rate: float64(seen.Answered) / seen.Window.Seconds(),
		Latencies: seen.Latencies, Refused: seen.Refused, Failed: seen.Failed,
	}
	passed.charge(&m, float64(seen.Answered), seen.CPU)
	return m, seen, nil
}

// await reads the line that says that something begins or ends, and looks at the
// processes at that moment.
func (c *child) await(ctx context.Context, look *watch, event string, within time.Duration) (sample, error) {
	var m message
	if err := c.read(ctx, within, &m); err != nil {
		return sample{}, err
	}
	if m.Event != event {
		return sample{}, fmt.Errorf("bench: the generator says %q where %q was due", m.Event, event)
	}
	return look.sample()
}

// growCallers measures verify with more and more callers.
func (b *bench) growCallers(ctx context.Context) error {
	if len(b.options.growC) == 0 {
		return nil
	}
	found := make([][]measurement, len(b.options.growC))
	rounds := max(b.options.rounds, 1)
	bar := b.show.begin("measure growth with callers", int64(rounds*len(found)))
	defer bar.end()
	for range rounds {
		for i, callers := range b.options.growC {
			m, err := b.askVerify(ctx, int(callers))
			if err != nil {
				return err
			}
			found[i] = append(found[i], m)
			b.show.say("%d callers: %s", callers, m.line())
			bar.add(1)
		}
	}
	for _, all := range found {
		b.report.GrowCallers = append(b.report.GrowCallers, summarised(all))
	}
	return nil
}

// growLines measures verify at the present number of lines.
func (b *bench) growLines(ctx context.Context, lines int64) error {
	rounds := max(b.options.rounds, 1)
	bar := b.show.begin("measure at "+grouped(float64(lines))+" lines", int64(rounds))
	defer bar.end()
	var all []measurement
	for range rounds {
		m, err := b.askVerify(ctx, b.options.callers)
		if err != nil {
			return err
		}
		all = append(all, m)
		b.show.say("%s lines: %s", grouped(float64(lines)), m.line())
		bar.add(1)
	}
	b.report.GrowLines = append(b.report.GrowLines, summarised(all))
	return nil
}

func (b *bench) askVerify(ctx context.Context, callers int) (measurement, error) {
	m, _, err := b.ask(ctx, target{variantVerify, b.verify.address, b.verify.pid}, callers, 0, time.Duration(b.options.seconds)*time.Second)
	return m, err
}
