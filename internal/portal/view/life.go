package view

import (
	"slices"
	"strconv"
	"time"
)

// NumberData is the look-up of a number.
type NumberData struct {
	Form Form
	Life *Life // nil before something was looked up
	Now  time.Time
}

// Life is what is known of a number.
type Life struct {
	Number, Status, Reason, Network string
	Tone                            Tone
	AsOf, KnownAt                   time.Time // zero for now
	Tenures                         []TenureRow
	Events                          []EventRow
	Moments                         []Moment // both, the newest first
	Looks                           []LookRow
}

// TenureRow is one holder's stint on a number.
type TenureRow struct {
	Number                    int // the first is 1
	Network, State, EndReason string
	Start, End, EndedAfter    time.Time // zero where it is not known
	Runs                      bool
}

// EventRow is something that was told of a number.
type EventRow struct {
	Seq                    int64
	ID, Title, Type        string
	Tone                   Tone
	By, Peer, Code, Note   string
	Effective, Told, Churn time.Time
	Withdrawn              bool
	Withdraws              int64
	Outcome, Import        string
}

// LookRow is an earlier look-up of a number.
type LookRow struct {
	By, Reason string
	At         time.Time
}

// Arrange puts tenures and events onto one line of time, the newest first. At one
// moment an event stands above the tenure that it began or ended.
func (l *Life) Arrange(now time.Time) {
	var all []Moment
	for _, t := range l.Tenures {
		name := "Tenure " + strconv.Itoa(t.Number)
		if !t.Start.IsZero() {
			all = append(all, Moment{At: t.Start, Title: name + " begins, with " + t.Network, Tone: Neutral})
		}
		if !t.End.IsZero() {
			all = append(all, Moment{At: t.End, Title: name + " ends, with " + t.Network, Tone: Neutral, Body: tenureEnd(t)})
		}
	}
	for _, e := range l.Events {
		title, tone := e.Title, e.Tone
		if e.Withdrawn {
			title, tone = title+" (withdrawn)", Neutral
		}
		all = append(all, Moment{At: e.Effective, Title: title, Tone: tone, Body: eventBody(e, now)})
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return a.At.Compare(b.At) })
	slices.Reverse(all)
	l.Moments = all
	slices.Reverse(l.Tenures)
}
