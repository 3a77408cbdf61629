package webhook

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/egress"
)

// An endpoint that fails is tried after the steps, then hourly; its admins are told after
// an hour and once, and it is disabled after three days. One success closes the circuit.
func TestFailingEndpointIsRetriedAndThenDisabled(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var p progress
	var delays []time.Duration
	notified, now := 0, begin
	for {
		o := judge(p, egress.Answer{Status: 500}, nil, 3, now, 0.5)
		if o.accepted || o.split || o.dead {
			t.Fatalf("a failure after %s: %+v", now.Sub(begin), o)
		}
		if o.notify {
			notified++
			if now.Sub(begin) != time.Hour {
				t.Errorf("the admins are told after %s", now.Sub(begin))
			}
		}
		if o.disable != "" {
			if o.disable != ReasonFailing || now.Sub(begin) < 72*time.Hour || now.Sub(begin) > 73*time.Hour+time.Minute {
				t.Errorf("disabled because of %s after %s", o.disable, now.Sub(begin))
			}
			break
		}
		delays = append(delays, o.nextAt.Sub(now))
		p, now = o.progress, o.nextAt
	}
	want := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	for i, d := range want {
		if delays[i] != d {
			t.Errorf("after failure %d the next attempt is after %s, not %s", i+1, delays[i], d)
		}
	}
	for i, d := range delays[len(want)+1:] {
		if d != time.Hour {
			t.Errorf("delay %d is %s", len(want)+1+i, d)
		}
	}
	if notified != 1 || p.failures < circuitFailures {
		t.Errorf("told %d times, %d failures", notified, p.failures)
	}
	for _, status := range []int{200, 202, 204} {
		if o := judge(p, egress.Answer{Status: status}, nil, 1, now, 0); !o.accepted || o.progress != (progress{}) {
			t.Errorf("%d after failures: %+v", status, o)
		}
	}
}

// Hourly attempts are spread by a fifth to both sides.
func TestRetriesAreSpread(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := progress{failures: 20, failingSince: now.Add(-24 * time.Hour), notified: true}
	for random, want := range map[float64]time.Duration{0: 48 * time.Minute, 0.5: time.Hour, 1: 72 * time.Minute} {
		if o := judge(p, egress.Answer{}, egress.ErrTimeout, 1, now, random); o.nextAt.Sub(now).Round(time.Second) != want || o.notify {
			t.Errorf("random %v: %s", random, o.nextAt.Sub(now))
		}
	}
}

// What an endpoint answers decides what follows.
func TestAnswersDecide(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		answer egress.Answer
		err    error
		events int
		want   func(outcome) bool
	}{
		"gone":                        {egress.Answer{Status: 410}, nil, 3, func(o outcome) bool { return o.disable == ReasonGone }},
		"a batch is malformed":        {egress.Answer{Status: 400}, nil, 2, func(o outcome) bool { return o.split && o.failures == 0 && o.nextAt.IsZero() }},
		"a batch is unprocessable":    {egress.Answer{Status: 422}, nil, 2, func(o outcome) bool { return o.split }},
		"an event is malformed":       {egress.Answer{Status: 422}, nil, 1, func(o outcome) bool { return o.refusals == 1 && o.failures == 1 && o.nextAt.Sub(now) == 5*time.Second }},
		"too many requests":           {egress.Answer{Status: 429, RetryAfter: 17 * time.Minute}, nil, 1, func(o outcome) bool { return o.nextAt.Sub(now) == 17*time.Minute }},
		"too many, without a time":    {egress.Answer{Status: 429}, nil, 1, func(o outcome) bool { return o.nextAt.Sub(now) == 5*time.Second }},
		"unavailable for a while":     {egress.Answer{Status: 503, RetryAfter: 2 * time.Hour}, nil, 1, func(o outcome) bool { return o.nextAt.Sub(now) == 2*time.Hour }},
		"unavailable for ever":        {egress.Answer{Status: 503, RetryAfter: 1e6 * time.Hour}, nil, 1, func(o outcome) bool { return o.nextAt.Sub(now) == maxRetryAfter }},
		"Retry-After with an error":   {egress.Answer{Status: 500, RetryAfter: 2 * time.Hour}, nil, 1, func(o outcome) bool { return o.nextAt.Sub(now) == 5*time.Second }},
		"a redirect":                  {egress.Answer{Status: 302}, nil, 5, func(o outcome) bool { return o.failures == 1 && !o.split }},
		"not authorized":              {egress.Answer{Status: 401}, nil, 5, func(o outcome) bool { return o.failures == 1 && !o.split }},
		"a batch that timed out":      {egress.Answer{}, egress.ErrTimeout, 5, func(o outcome) bool { return o.failures == 1 && !o.split && o.failingSince.Equal(now) }},
		"an answer that is no status": {egress.Answer{Status: 101}, nil, 1, func(o outcome) bool { return o.failures == 1 }},
	}
	for name, c := range cases {
		if o := judge(progress{}, c.answer, c.err, c.events, now, 0.5); !c.want(o) || o.accepted {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// An event that is refused ten times over an hour is put aside, and not sooner.
func TestRefusedEventIsDeadAfterTenRefusalsInAnHour(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	now, p := begin, progress{}
	for i := 1; ; i++ {
		o := judge(p, egress.Answer{Status: 400}, nil, 1, now, 0.5)
		if o.dead {
			if i != 10 || now.Sub(begin) < time.Hour || now.Sub(begin) > 65*time.Minute || o.progress != (progress{}) {
				t.Errorf("dead after %d refusals in %s: %+v", i, now.Sub(begin), o)
			}
			return
		}
		if i > 10 || o.refusals != i {
			t.Fatalf("refusal %d: %+v", i, o)
		}
		p, now = o.progress, o.nextAt
	}
}
