package main

import "math"

const (
	// pace is by how much the search for a rate widens its steps.
	pace = 1.5
	// near ends the search: the rate that held is within this of one that did not.
	near = 1.05
	// leastRate and mostRate bound the search.
	leastRate, mostRate = 50, 1_000_000
)

// search looks for the highest rate that is held: upwards in wide steps until
// one is not, or downwards until one is, and then in the middle.
type search struct {
	next    float64
	held    float64 // the highest that was held; 0 when none was
	missed  float64 // the lowest that was not; 0 when all were
	stopped bool
}

func newSearch(from float64) *search { return &search{next: round(from)} }

// rate returns what to try next; false ends the search.
func (s *search) rate() (float64, bool) { return s.next, !s.stopped }

// tell says what became of the rate that was tried.
func (s *search) tell(held bool) {
	tried := s.next
	if held {
		s.held = max(s.held, tried)
	} else if s.missed == 0 || tried < s.missed {
		s.missed = tried
	}
	switch {
	case s.missed == 0:
		s.next = round(tried * pace)
	case s.held == 0:
		s.next = round(tried / pace)
	default:
		s.next = round(math.Sqrt(s.held * s.missed))
	}
	s.stopped = s.missed > 0 && s.held > 0 && (s.missed/s.held < near || s.next == s.held || s.next == s.missed) ||
		s.next < leastRate || s.next > mostRate
}

// round makes a rate easy to repeat.
func round(rate float64) float64 { return math.Round(rate/10) * 10 }
