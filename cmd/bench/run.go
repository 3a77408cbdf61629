package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/redistest"
)

// bench is one run of the tool.
type bench struct {
	options *options
	show    *display
	world   *world
	program string

	verify    *service
	unbatched *service // nil when it is not measured
	shared    *service // counts in Redis; nil when it is not measured
	redis     *redistest.Server
	bare      *child // nil when it is not measured
	bareAt    string

	rounds map[string][]measurement
	report *report
	told   uint64 // answers that were given, ever
}

// runBench does everything that the options ask for.
func runBench(ctx context.Context, o *options, show *display) (*report, error) {
	b := &bench{options: o, show: show, rounds: make(map[string][]measurement), report: newReport(o)}
	defer b.close()
	show.say("start PostgreSQL")
	var err error
	if b.world, err = newWorld(ctx, o); err != nil {
		return nil, err
	}
	if err := b.world.pool.QueryRow(ctx, `SHOW server_version`).Scan(&b.report.Machine.PostgreSQL); err != nil {
		return nil, fmt.Errorf("bench: ask for the version: %w", err)
	}
	show.say("build the server")
	if b.program, err = b.world.build(ctx, o); err != nil {
		return nil, err
	}
	for i, lines := range o.stages() {
		if err := b.world.load(ctx, lines, show); err != nil {
			return nil, err
		}
		if i == 0 {
			if err := b.startServers(ctx); err != nil {
				return nil, err
			}
		}
		if err := b.stage(ctx, lines); err != nil {
			return nil, err
		}
	}
	b.report.sum(b.rounds)
	if b.report.Records, err = b.world.records(ctx); err != nil {
		return nil, err
	}
	b.report.Answers = b.told
	if b.report.Records < b.told {
		return b.report, fmt.Errorf("bench: %d answers were given and the journal has %d of them", b.told, b.report.Records)
	}
	return b.report, nil
}

// stage measures what is to be measured at a number of lines.
func (b *bench) stage(ctx context.Context, lines int64) error {
	if slices.Contains(b.options.growLines, lines) {
		if err := b.growLines(ctx, lines); err != nil {
			return err
		}
	}
	if lines != b.options.lines {
		return nil
	}
	if err := b.compare(ctx); err != nil {
		return err
	}
	if err := b.growCallers(ctx); err != nil {
		return err
	}
	return b.openLoop(ctx)
}

// startServers starts what answers over HTTP.
func (b *bench) startServers(ctx context.Context) (err error) {
	b.show.say("start the servers")
	w, o := b.world, b.options
	if b.verify, err = w.start(ctx, b.program, "verify", o.settings...); err != nil {
		return err
	}
	same, err := w.first(ctx, b.verify)
	if err != nil {
		return err
	}
	b.told++
	if o.rounds == 0 {
		return nil
	}
	if o.wants(variantUnbatched) {
		settings := append(slices.Clone(o.settings), "LINEPROOF_VERIFY_BATCH=1", "LINEPROOF_VERIFY_FLUSHES=8")
		if b.unbatched, err = w.start(ctx, b.program, "unbatched", settings...); err != nil {
			return fmt.Errorf("%w (leave it out with -skip %s)", err, variantUnbatched)
		}
	}
	if o.wants(variantRedis) {
		if b.redis, err = redistest.Start(ctx); err != nil {
			return fmt.Errorf("%w (leave it out with -skip %s)", err, variantRedis)
		}
		if b.shared, err = w.start(ctx, b.program, "redis", append(slices.Clone(o.settings), "LINEPROOF_REDIS_URL="+b.redis.URL())...); err != nil {
			return err
		}
	}
	if !o.wants(variantBare) {
		return nil
	}
	if b.bare, err = startChild(ctx, "bare", same); err != nil {
		return err
	}
	var at bareAddress
	if err := b.bare.read(ctx, 10*time.Second, &at); err != nil {
		return err
	}
	b.bareAt = at.Address
	return nil
}

// close ends everything in the reverse of the order in which it was started.
func (b *bench) close() {
	if b.bare != nil {
		b.bare.stop()
	}
	for _, s := range []*service{b.shared, b.unbatched, b.verify} {
		if s != nil {
			s.stop()
		}
	}
	if b.redis != nil {
		b.redis.Stop()
	}
	if b.world != nil {
		b.world.close()
	}
}

// ours returns the processes that are ours and are not counted otherwise.
func (b *bench) ours() []int {
	var all []int
	for _, s := range []*service{b.verify, b.unbatched, b.shared} {
		if s != nil {
			all = append(all, s.pid)
		}
	}
	if b.bare != nil {
		all = append(all, b.bare.cmd.Process.Pid)
	}
	if b.redis != nil {
		all = append(all, b.redis.PID())
	}
	return all
}

// compare measures all variants in turn, in another order in each round: what
// the machine does besides meets all of them alike.
func (b *bench) compare(ctx context.Context) error {
	runs := b.measures()
	names := slices.Sorted(maps.Keys(runs))
	bar := b.show.begin("measure", int64(b.options.rounds*len(names)))
	defer bar.end()
	for round := range b.options.rounds {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			m, err := runs[name](ctx)
			if err != nil {
				return fmt.Errorf("bench: round %d, %s: %w", round+1, name, err)
			}
			m.Round = round + 1
			b.rounds[name] = append(b.rounds[name], m)
			b.show.say("round %d of %d: %s", m.Round, b.options.rounds, m.line())
			bar.add(1)
		}
	}
	return nil
}

// measures returns how each variant that is wanted is measured.
func (b *bench) measures() map[string]func(context.Context) (measurement, error) {
	all := make(map[string]func(context.Context) (measurement, error))
	o := b.options
	for name, run := range b.world.pgbenchRuns(o.callers) {
		all[name] = func(ctx context.Context) (measurement, error) { return b.world.pgbench(ctx, run, o.seconds, b.ours()) }
	}
	asks := func(name, address string, pid int) {
		all[name] = func(ctx context.Context) (measurement, error) {
			m, _, err := b.ask(ctx, target{name, address, pid}, o.callers, 0, time.Duration(o.seconds)*time.Second)
			return m, err
		}
	}
	asks(variantVerify, b.verify.address, b.verify.pid)
	if b.unbatched != nil {
		asks(variantUnbatched, b.unbatched.address, b.unbatched.pid)
	}
	if b.shared != nil {
		asks(variantRedis, b.shared.address, b.shared.pid)
	}
	if b.bare != nil {
		asks(variantBare, b.bareAt, b.bare.cmd.Process.Pid)
	}
	maps.DeleteFunc(all, func(name string, _ func(context.Context) (measurement, error)) bool { return !o.wants(name) })
	return all
}
