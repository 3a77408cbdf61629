package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Topic is a part of what suppliers report. The numbers are stored.
type Topic int16

// The topics. Each network reports its own LIFECYCLE and SIM; PORT is reported
// once for the nation, by the clearing house.
const (
	TopicLifecycle Topic = 1 + iota // everything that an operator reports but SIM changes
	TopicSIM
	TopicPort
)

var topicWords = []string{"", "LIFECYCLE", "SIM", "PORT"}

// String returns the word of the topic.
func (t Topic) String() string {
	if t < 0 || int(t) >= len(topicWords) {
		return ""
	}
	return topicWords[t]
}

// ParseTopic returns the topic with that word.
func ParseTopic(word string) (Topic, bool) {
	i := slices.Index(topicWords, word)
	return Topic(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// Topic returns the topic to which an event belongs, and whether its reporter
// supplies a topic at all.
func (e *Event) Topic() (Topic, bool) {
	switch {
	case e.Authority == ClearingHouse:
		return TopicPort, true
	case e.Authority == Operator && e.Kind == ChangeSIM:
		return TopicSIM, true
	default:
		return TopicLifecycle, e.Authority == Operator
	}
}

// Nation stands for the clearing house where coverage is kept by network.
const Nation numbering.Network = 0

// Span is the period that the supply of one topic covers. A zero time means none.
type Span struct {
	KnownSince    time.Time // the first supply of any kind
	CompleteSince time.Time // the first complete snapshot
	Through       time.Time // everything that took effect until then has been supplied
	Doubtful      bool      // its assurances were false too often; staff have not accepted it again
}

// Coverage is what the supply of a network covers, by topic. Ports are covered for
// all networks by the clearing house.
type Coverage struct{ Lifecycle, SIM, Ports Span }

// supplyState is the coverage of the network that serves a number, as the policy
// judges it at a time.
type supplyState struct {
	Coverage

	missing  bool      // a required topic was never supplied
	stale    bool      // a required topic is not fresh
	complete bool      // a whole snapshot was supplied
	through  time.Time // up to when every required topic was supplied
}

// TopicState is how the policy judges the supply of one topic.
type TopicState struct {
	Span

	Topic    Topic
	Required bool
	Fresh    bool
}

// Topics returns how the policy judges each topic of the supply of the number's
// network.
func (f *Facts) Topics(p *policy.Policy, at time.Time) [3]TopicState {
	var c Coverage
	if n := f.network(at); n != 0 && f.Coverage != nil {
		c = f.Coverage(n)
	}
	state := func(t Topic, s Span, freshness time.Duration) TopicState {
		return TopicState{Span: s, Topic: t, Required: freshness > 0, Fresh: !s.Doubtful && at.Before(s.Through.Add(freshness))}
	}
	return [...]TopicState{
		state(TopicLifecycle, c.Lifecycle, p.LifecycleFreshness()), state(TopicSIM, c.SIM, p.SIMFreshness()), state(TopicPort, c.Ports, p.PortFreshness(!c.Ports.CompleteSince.IsZero())),
	}
}

// KnownThrough returns up to when every required topic was supplied; zero when one
// never was.
func (f *Facts) KnownThrough(p *policy.Policy, at time.Time) time.Time {
	return f.supply(p, at).through
}

// supply returns how the policy judges the supply of the number's network.
func (f *Facts) supply(p *policy.Policy, at time.Time) (s supplyState) {
	topics := f.Topics(p, at)
	s.Coverage = Coverage{topics[0].Span, topics[1].Span, topics[2].Span}
	s.complete = !s.Lifecycle.CompleteSince.IsZero()
	for _, t := range topics {
		if !t.Required {
			continue
		}
		s.missing = s.missing || t.Through.IsZero()
		s.stale = s.stale || !t.Fresh
		if s.through.IsZero() || t.Through.Before(s.through) {
			s.through = t.Through
		}
	}
	if s.missing {
		s.through = time.Time{}
	}
	return s
}
