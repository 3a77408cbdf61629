package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/testing/redistest"
)

// bench is one run of the tool.
type bench struct {
	options *options
	display *display
	testbed *testbed
	program string

	verify    *service
	unbatched *service // nil when it is not measured
	shared    *service // counts in Redis; nil when it is not measured
	against   *service // another binary; nil when it is not measured
	redis     *redistest.Server
	bare      *child // nil when it is not measured
	bareAddr  string

	rounds  map[string][]measurement
	report  *report
	answers uint64 // given by verify so far
}

// runBench runs all measurements of the options.
func runBench(ctx context.Context, o *options, d *display) (*report, error) {
	b := &bench{options: o, display: d, rounds: make(map[string][]measurement), report: newReport(o)}
	defer b.close()
	d.printf("start PostgreSQL")
	var err error
	if b.testbed, err = newTestbed(ctx, o); err != nil {
		return nil, err
	}
	if err := b.testbed.pool.QueryRow(ctx, `SHOW server_version`).Scan(&b.report.Machine.PostgreSQL); err != nil {
		return nil, fmt.Errorf("bench: read the version: %w", err)
	}
	d.printf("build the server")
	if b.program, err = b.testbed.buildServer(ctx, o); err != nil {
		return nil, err
	}
	if b.report.Version, err = versionOf(ctx, b.program, o.settings); err != nil {
		return nil, err
	}
	for i, lines := range o.stages() {
		if err := b.testbed.load(ctx, lines, d); err != nil {
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
	b.report.addRounds(b.rounds)
	if b.report.Records, err = b.testbed.countRecords(ctx); err != nil {
		return nil, err
	}
	b.report.Answers = b.answers
	if b.report.Records < b.answers {
		return b.report, fmt.Errorf("bench: %d answers were given, but the journal has only %d of them", b.answers, b.report.Records)
	}
	return b.report, nil
}

// stage runs the measurements with a number of lines.
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

// startServers starts the servers that answer over HTTP.
func (b *bench) startServers(ctx context.Context) (err error) {
	b.display.printf("start the servers")
	t, o := b.testbed, b.options
	if b.verify, err = t.startServer(ctx, b.program, "verify", o.settings...); err != nil {
		return err
	}
	canned, err := t.checkFirstAnswer(ctx, b.verify)
	if err != nil {
		return err
	}
	b.answers++
	if o.rounds == 0 {
		return nil
	}
	if o.includes(variantUnbatched) {
		settings := append(slices.Clone(o.settings), "LINEPROOF_VERIFY_BATCH=1", "LINEPROOF_VERIFY_FLUSHES=8")
		if b.unbatched, err = t.startServer(ctx, b.program, "unbatched", settings...); err != nil {
			return fmt.Errorf("%w (skip it with -skip %s)", err, variantUnbatched)
		}
	}
	if o.includes(variantRedis) {
		if b.redis, err = redistest.Start(ctx); err != nil {
			return fmt.Errorf("%w (skip it with -skip %s)", err, variantRedis)
		}
		if b.shared, err = t.startServer(ctx, b.program, "redis", append(slices.Clone(o.settings), "LINEPROOF_REDIS_URL="+b.redis.URL())...); err != nil {
			return err
		}
	}
	if o.includes(variantAgainst) {
		if b.against, err = t.startServer(ctx, o.against, "against", o.others...); err != nil {
			return err
		}
	}
	if !o.includes(variantBare) {
		return nil
	}
	if b.bare, err = startChild(ctx, "bare", canned); err != nil {
		return err
	}
	var at bareAddress
	if err := b.bare.read(ctx, 10*time.Second, &at); err != nil {
		return err
	}
	b.bareAddr = at.Address
	return nil
}

// close stops everything in reverse order of its start.
func (b *bench) close() {
	if b.bare != nil {
		b.bare.stop()
	}
	for _, s := range []*service{b.against, b.shared, b.unbatched, b.verify} {
		if s != nil {
			s.stop()
		}
	}
	if b.redis != nil {
		b.redis.Stop()
	}
	if b.testbed != nil {
		b.testbed.close()
	}
}

// ownProcesses returns the ids of the server processes that this program has
// started.
func (b *bench) ownProcesses() []int {
	var all []int
	for _, s := range []*service{b.verify, b.unbatched, b.shared, b.against} {
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

// maxStolen is the share of the machine that its host may take away before a measurement
// says nothing; maxRepeats is how often it is then repeated.
const (
	maxStolen  = 0.10
	maxRepeats = 5
)

// compare measures all variants in turn, in a different order in each round, so
// that other work on the machine affects all of them equally.
func (b *bench) compare(ctx context.Context) error {
	runs := b.variantRuns()
	names := slices.Sorted(maps.Keys(runs))
	progress := b.display.start("measure", int64(b.options.rounds*len(names)))
	for round := range b.options.rounds {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] }) //nolint:gosec // an order, and no secret
		for _, name := range names {
			m, err := runs[name](ctx)
			for repeat := 0; err == nil && m.Stolen > maxStolen && repeat < maxRepeats; repeat++ {
				b.display.printf("the host took %s of the cores away from %s, which is measured again", percent(m.Stolen), name)
				m, err = runs[name](ctx)
			}
			if err != nil {
				return fmt.Errorf("bench: round %d, %s: %w", round+1, name, err)
			}
			m.Round = round + 1
			b.rounds[name] = append(b.rounds[name], m)
			b.display.printf("round %d of %d: %s", m.Round, b.options.rounds, m.line())
			progress.add(1)
		}
	}
	return nil
}

// variantRuns returns a function for each variant that measures it.
func (b *bench) variantRuns() map[string]func(context.Context) (measurement, error) {
	all := make(map[string]func(context.Context) (measurement, error))
	o := b.options
	for name, run := range b.testbed.pgbenchRuns(o.callers) {
		all[name] = func(ctx context.Context) (measurement, error) {
			return b.testbed.pgbench(ctx, run, o.seconds, b.ownProcesses())
		}
	}
	addHTTP := func(name, address string, pid int) {
		all[name] = func(ctx context.Context) (measurement, error) {
			m, _, err := b.measureHTTP(ctx, target{name, address, pid}, o.callers, 0, time.Duration(o.seconds)*time.Second)
			return m, err
		}
	}
	addHTTP(variantVerify, b.verify.address, b.verify.pid)
	if b.unbatched != nil {
		addHTTP(variantUnbatched, b.unbatched.address, b.unbatched.pid)
	}
	if b.against != nil {
		addHTTP(variantAgainst, b.against.address, b.against.pid)
	}
	if b.shared != nil {
		addHTTP(variantRedis, b.shared.address, b.shared.pid)
	}
	if b.bare != nil {
		addHTTP(variantBare, b.bareAddr, b.bare.cmd.Process.Pid)
	}
	maps.DeleteFunc(all, func(name string, _ func(context.Context) (measurement, error)) bool { return !o.includes(name) })
	return all
}
