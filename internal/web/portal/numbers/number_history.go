package numbers

import (
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// NumberData is the lookup of a number.
type NumberData struct {
	Form    kit.Form
	History *NumberHistory // nil before a lookup
	Now     time.Time
}

// NumberHistory is the history of a number.
type NumberHistory struct {
	Number, Status, Reason, Network string
	Tone                            kit.Tone
	AsOf, KnownAt                   time.Time // zero for now
	Tenures                         []TenureRow
	Events                          []EventRow
	Timeline                        []kit.TimelineEntry // start and end of the tenures, and the events; newest first
	Lookups                         []LookupRow
	Picture                         PictureData
	Asked                           *AskedForm    // the search for who asked about it; nil for those who may not request it
	LookupReason                    string        // why it was looked up now
	Orders                          []OrderRow    // the newest first
	Actions                         []OrderAction // that the visitor can order; none for those who may not
}

// TenureRow is the time during which one holder had the number.
type TenureRow struct {
	Number                    int // the first is 1
	Network, State, EndReason string
	Start, End, EndedAfter    time.Time // zero where unknown
	Current                   bool
}

// EventRow is an event that was reported about a number.
type EventRow struct {
	Seq                        int64
	ID, Title, Type            string
	Tone                       kit.Tone
	By, Peer, Code, Note       string
	Effective, Reported, Churn time.Time
	Withdrawn                  bool
	Withdraws                  int64
	Outcome, Import            string
	CanConfirm, CanVoid        bool // by the visitor
	Open                       bool // it is held or in conflict
}

// LookupRow is an earlier lookup of the number.
type LookupRow struct {
	By, Reason string
	At         time.Time
}

// Arrange merges tenures and events into one timeline, newest first. At the same
// time, an event comes before the start or end of the tenure that it caused.
func (l *NumberHistory) Arrange(now time.Time) {
	var all []kit.TimelineEntry
	for _, t := range l.Tenures {
		name := "Tenure " + strconv.Itoa(t.Number)
		if !t.Start.IsZero() {
			all = append(all, kit.TimelineEntry{At: t.Start, Title: name + " started with " + t.Network, Tone: kit.Neutral})
		}
		if !t.End.IsZero() {
			all = append(all, kit.TimelineEntry{At: t.End, Title: name + " ended with " + t.Network, Tone: kit.Neutral, Body: tenureEnd(t)})
		}
	}
	for _, e := range l.Events {
		title, tone := e.Title, e.Tone
		if e.Withdrawn {
			title, tone = title+" (withdrawn)", kit.Neutral
		}
		all = append(all, kit.TimelineEntry{At: e.Effective, Title: title, Tone: tone, Body: eventBody(e, now)})
	}
	slices.SortStableFunc(all, func(a, b kit.TimelineEntry) int { return a.At.Compare(b.At) })
	slices.Reverse(all)
	l.Timeline = all
	slices.Reverse(l.Tenures)
}
