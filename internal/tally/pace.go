package tally

import (
	"context"
	"sort"
	"time"

	"github.com/google/uuid"
)

// bounds are the upper bounds of the buckets. What is stored goes by their
// places, so they are never changed.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, 750 * time.Microsecond, 1 * time.Millisecond, 1500 * time.Microsecond,
	2 * time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond, 5 * time.Millisecond, 6 * time.Millisecond, 8 * time.Millisecond,
	10 * time.Millisecond, 12 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond, 25 * time.Millisecond, 30 * time.Millisecond,
	40 * time.Millisecond, 50 * time.Millisecond, 60 * time.Millisecond, 80 * time.Millisecond, 100 * time.Millisecond, 125 * time.Millisecond,
	150 * time.Millisecond, 200 * time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond, 500 * time.Millisecond,
	750 * time.Millisecond, 1 * time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second,
}

// Times is a histogram of how long answers took: how many fall into each bucket,
// with a last one for all that took longer.
type Times [len(bounds) + 1]int64

func bucketOf(took time.Duration) int {
	return sort.Search(len(bounds), func(i int) bool { return took <= bounds[i] })
}

// Plus returns the sum of two histograms.
func (h Times) Plus(other Times) Times {
	for i, n := range other {
		h[i] += n
	}
	return h
}

// Quantile returns the time within which that share of the answers came, to the
// width of a bucket; 0 when there were none. What took longer than the last
// bound counts as the last bound.
func (h Times) Quantile(q float64) time.Duration {
	var all int64
	for _, n := range h {
		all += n
	}
	if all == 0 {
		return 0
	}
	rank, low := q*float64(all), time.Duration(0)
	for i, bound := range bounds {
		if n := float64(h[i]); n > 0 && rank <= n {
			return low + time.Duration(float64(bound-low)*max(rank, 0)/n)
		}
		rank -= float64(h[i])
		low = bound
	}
	return bounds[len(bounds)-1]
}

// Pace is how requests ended on one day.
type Pace struct {
	Day                    time.Time // its midnight, UTC
	Asked, Refused, Failed int64     // Refused with 4xx, Failed with 5xx
	Times                  Times     // of single questions that were answered
}

// Paces returns how the requests of an entity ended on every day from that of
// one moment to that of another, both included, oldest first. The mode "" stands
// for all.
func (t *Tally) Paces(ctx context.Context, entity uuid.UUID, mode string, from, to time.Time) ([]Pace, error) {
	first, last := dayOf(from), dayOf(to)
	var days []Pace
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		days = append(days, Pace{Day: day})
	}
	var day time.Time
	var asked, refused, failed int64
	var times []int64
	err := each(ctx, t.Pool, []any{&day, &asked, &refused, &failed, &times}, func() {
		p := &days[int(day.UTC().Sub(first)/(24*time.Hour))]
		p.Asked, p.Refused, p.Failed = p.Asked+asked, p.Refused+refused, p.Failed+failed
		for i, n := range times[:min(len(times), len(p.Times))] {
			p.Times[i] += n
		}
	}, `SELECT day::timestamptz, asked, refused, failed, times FROM usage_pace
		WHERE entity_id = $1 AND day >= $2::timestamptz::date AND day <= $3::timestamptz::date AND ($4 = '' OR mode = $4)`, entity, first, last, mode)
	if err != nil {
		return nil, err
	}
	return days, nil
}
