package verify

import (
	"encoding/binary"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// The first byte of a topic in a recorded coverage.
const (
	topicRequired = 1 << iota
	topicFresh
	topicDoubtful
)

const topicSize = 1 + 3*4 // the flags and three times

// recordCoverage returns the coverage that decided an answer in the form of the record:
// for LIFECYCLE, SIM and PORT a byte of flags, and then since when the topic is known,
// since when complete, and through when supplied, each in seconds since 1970 and 0 when
// it is not.
func recordCoverage(topics [3]line.TopicState) (c record.Coverage) {
	b := c[:0]
	for i := range topics {
		t := &topics[i]
		var flags byte
		for _, f := range [...]struct {
			set bool
			bit byte
		}{{t.Required, topicRequired}, {t.Fresh, topicFresh}, {t.Doubtful, topicDoubtful}} {
			if f.set {
				flags |= f.bit
			}
		}
		b = append(b, flags)
		for _, at := range [...]time.Time{t.KnownSince, t.CompleteSince, t.Through} {
			seconds := uint32(0)
			if !at.IsZero() {
				seconds = uint32(max(at.Unix(), 1)) //nolint:gosec // until 2106
			}
			b = binary.BigEndian.AppendUint32(b, seconds)
		}
	}
	return c
}

// ReadCoverage is the reverse of recordCoverage.
func ReadCoverage(c *record.Coverage) (topics [3]line.TopicState) {
	for i := range topics {
		b := c[i*topicSize : (i+1)*topicSize]
		at := func(n int) (t time.Time) {
			if seconds := binary.BigEndian.Uint32(b[1+4*n:]); seconds != 0 {
				t = time.Unix(int64(seconds), 0).UTC()
			}
			return t
		}
		topics[i] = line.TopicState{
			Topic: line.TopicLifecycle + line.Topic(i), Required: b[0]&topicRequired != 0, Fresh: b[0]&topicFresh != 0,
			Span: line.Span{KnownSince: at(0), CompleteSince: at(1), Through: at(2), Doubtful: b[0]&topicDoubtful != 0},
		}
	}
	return topics
}

// recordedCoverage returns the coverage that an answer was given by.
func recordedCoverage(e *record.Entry) func(numbering.Network) line.Coverage {
	topics := ReadCoverage(&e.Coverage)
	c := line.Coverage{Lifecycle: topics[0].Span, SIM: topics[1].Span, Ports: topics[2].Span}
	return func(numbering.Network) line.Coverage { return c }
}
