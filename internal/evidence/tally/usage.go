package tally

import (
	"context"
	"sort"
	"time"

	"github.com/google/uuid"
)

// bounds are the upper bounds of the buckets. Stored counts refer to them by index,
// so they must never be changed.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, 750 * time.Microsecond, 1 * time.Millisecond, 1500 * time.Microsecond,
	2 * time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond, 5 * time.Millisecond, 6 * time.Millisecond, 8 * time.Millisecond,
	10 * time.Millisecond, 12 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond, 25 * time.Millisecond, 30 * time.Millisecond,
	40 * time.Millisecond, 50 * time.Millisecond, 60 * time.Millisecond, 80 * time.Millisecond, 100 * time.Millisecond, 125 * time.Millisecond,
	150 * time.Millisecond, 200 * time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond, 500 * time.Millisecond,
	750 * time.Millisecond, 1 * time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second,
}

// Times is a histogram of latencies: the number of answers in each bucket, the last
// one for all that took longer.
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

// Quantile returns the q-quantile of the latencies, interpolated within a bucket; 0
// if there are none. What took longer than the last bound counts as the last bound.
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

// Usage is the outcome of requests on one day.
type Usage struct {
	Day                       time.Time // its midnight, UTC
	Requests, Refused, Failed int64     // Refused with 4xx, Failed with 5xx
	Times                     Times     // latencies of answered requests about a single number
}

// DailyUsage returns the outcomes of the requests of an entity on every day from the day
// of from to the day of to, inclusive, oldest first. The mode "" means all.
func (t *Tally) DailyUsage(ctx context.Context, entity uuid.UUID, mode string, from, to time.Time) ([]Usage, error) {
	first, last := dayOf(from), dayOf(to)
	var days []Usage
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		days = append(days, Usage{Day: day})
	}
	var day time.Time
	var requests, refused, failed int64
	var times []int64
	err := forEachRow(ctx, t.Pool, []any{&day, &requests, &refused, &failed, &times}, func() {
		u := &days[int(day.UTC().Sub(first)/(24*time.Hour))]
		u.Requests, u.Refused, u.Failed = u.Requests+requests, u.Refused+refused, u.Failed+failed
		for i, n := range times[:min(len(times), len(u.Times))] {
			u.Times[i] += n
		}
	}, `SELECT day::timestamptz, asked, refused, failed, times FROM usage_pace
		WHERE entity_id = $1 AND day >= $2::timestamptz::date AND day <= $3::timestamptz::date AND ($4 = '' OR mode = $4)`, entity, first, last, mode)
	if err != nil {
		return nil, err
	}
	return days, nil
}

// AllUse is how the requests of all entities ended on a day.
type AllUse struct {
	Requests, Refused, Failed int64 // Refused with 4xx, Failed with 5xx
	Nodes                     int   // that had requests
}

// AllUsage returns how the requests of all entities ended on the day of a time.
func (t *Tally) AllUsage(ctx context.Context, mode string, at time.Time) (u AllUse, err error) {
	err = t.Pool.QueryRow(ctx, `SELECT coalesce(sum(u.asked), 0)::bigint, coalesce(sum(u.refused), 0)::bigint, coalesce(sum(u.failed), 0)::bigint, count(DISTINCT u.node)
		FROM usage_pace u WHERE u.day = $1::timestamptz::date AND u.mode = $2`, dayOf(at), mode).Scan(&u.Requests, &u.Refused, &u.Failed, &u.Nodes)
	return u, wrap("read the usage of all", err)
}
