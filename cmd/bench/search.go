package main

import "math"

const (
	// stepFactor is the factor between two rates until the limit is bracketed.
	stepFactor = 1.5
	// precision ends the search: a sustained and a failed rate differ by less than
	// this factor.
	precision = 1.05
	// minRate and mostRate bound the search.
	minRate, maxRate = 50, 1_000_000
)

// search finds the highest sustained rate: upwards in wide steps until one fails,
// or downwards until one is sustained, and then by bisection.
type search struct {
	next      float64
	sustained float64 // the highest sustained rate; 0 if there is none
	failed    float64 // the lowest failed rate; 0 if there is none
	stopped   bool
}

func newSearch(from float64) *search { return &search{next: round(from)} }

// rate returns the next rate to try; false ends the search.
func (s *search) rate() (float64, bool) { return s.next, !s.stopped }

// record takes the result of the rate that was tried.
func (s *search) record(sustained bool) {
	tried := s.next
	if sustained {
		s.sustained = max(s.sustained, tried)
	} else if s.failed == 0 || tried < s.failed {
		s.failed = tried
	}
	switch {
	case s.failed == 0:
		s.next = round(tried * stepFactor)
	case s.sustained == 0:
		s.next = round(tried / stepFactor)
	default:
		s.next = round(math.Sqrt(s.sustained * s.failed))
	}
	s.stopped = s.failed > 0 && s.sustained > 0 && (s.failed/s.sustained < precision || s.next == s.sustained || s.next == s.failed) ||
		s.next < minRate || s.next > maxRate
}

// round rounds a rate to a multiple of 10, which is easy to repeat.
func round(rate float64) float64 { return math.Round(rate/10) * 10 }
