package webhook

import (
	"math"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/platform/egress"
)

// steps are the delays after the first failures in a row. The last one repeats.
var steps = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// refusalSteps are the delays after an endpoint has refused one event as malformed. They
// take a little more than refusedFor.
var refusalSteps = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute, 12 * time.Minute, 13 * time.Minute,
}

const (
	jitter          = 0.2            // of a delay, to both sides
	circuitFailures = 5              // in a row, after which the circuit is open
	notifyAfter     = time.Hour      // of failures, the admins get an e-mail
	disableAfter    = 72 * time.Hour // of failures, the endpoint is disabled
	maxRefusals     = 10             // of one event, over at least refusedFor, after which it is dead
	refusedFor      = time.Hour
	maxRetryAfter   = 24 * time.Hour // that an endpoint can ask for
	minRetryAfter   = 1 * time.Second
)

// progress is the stored state of the failures of an endpoint.
type progress struct {
	failures     int
	failingSince time.Time
	nextAt       time.Time
	notified     bool
	refusals     int // of the event after the cursor
	refusedSince time.Time
}

// outcome is the effect of one attempt on its endpoint.
type outcome struct {
	progress

	accepted bool   // the cursor moves on
	split    bool   // the events are sent one by one
	dead     bool   // the event is put aside, and the cursor moves on
	notify   bool   // the admins are told that the endpoint fails
	disable  string // the reason; "" if it stays active
}

// judge decides what follows from an answer to that many events, or from an error instead
// of an answer. Random is between 0 and 1.
func judge(p progress, a egress.Answer, err error, events int, now time.Time, random float64) outcome {
	switch {
	case err == nil && a.Status >= 200 && a.Status <= 299:
		return outcome{accepted: true}
	case err == nil && a.Status == http.StatusGone:
		p.failures++
		return outcome{progress: p, disable: ReasonGone}
	case err == nil && malformed(a.Status) && events > 1:
		p.nextAt = time.Time{}
		return outcome{progress: p, split: true}
	}
	p.failures++
	if p.failingSince.IsZero() {
		p.failingSince = now
	}
	failingFor := now.Sub(p.failingSince)
	delay := steps[min(p.failures, len(steps))-1]
	if err == nil && malformed(a.Status) {
		p.refusals++
		if p.refusedSince.IsZero() {
			p.refusedSince = now
		}
		if p.refusals >= maxRefusals && now.Sub(p.refusedSince) >= refusedFor {
			return outcome{dead: true}
		}
		delay = refusalSteps[min(p.refusals, len(refusalSteps))-1]
	} else {
		delay = time.Duration(float64(delay) * (1 - jitter + 2*jitter*random))
	}
	if failingFor >= disableAfter {
		return outcome{progress: p, disable: ReasonFailing}
	}
	o := outcome{progress: p}
	o.nextAt = now.Add(delay)
	if due := p.failingSince.Add(notifyAfter); now.Before(due) && o.nextAt.After(due) {
		o.nextAt = due // so that admins hear of it in time
	}
	if !p.notified && failingFor >= notifyAfter {
		o.notify, o.notified = true, true
	}
	if err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable) && a.RetryAfter > 0 {
		o.nextAt = now.Add(min(max(a.RetryAfter, minRetryAfter), maxRetryAfter))
	}
	return o
}

// malformed reports whether an endpoint says that it will never understand what it got.
func malformed(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// milliseconds returns a duration for a page.
func milliseconds(d time.Duration) int32 {
	return int32(min(d.Milliseconds(), math.MaxInt32)) //nolint:gosec // bounded
}
