package verify

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Dates are the dates of the tenure that a line is in.
type Dates struct {
	TenureStart   Date `json:"tenureStart"`
	LastSIMChange Date `json:"lastSimChange"` // by a swap, a port or a new holder
	LastPort      Date `json:"lastPort"`
}

// Date is one date of a line, in the form that the policy allows for the purpose of the
// request.
type Date struct {
	Value     *string   `json:"value"` // a time, a day or a month; null if there is none to give
	Precision Precision `json:"precision"`

	// KnownSince is since when every such change has been supplied; zero when that says
	// nothing about the line. If the value is unknown, there was no such change after it.
	KnownSince time.Time `json:"knownSince"`
}

// Precision says how exact a date is, or why it has no value.
type Precision string

// The precisions. They are part of the API contract.
const (
	ToTheSecond   Precision = "second"
	ToTheDay      Precision = "day"   // in the time zone of the policy
	ToTheMonth    Precision = "month" // likewise
	NeverHappened Precision = "never" // not in this tenure
	DateUnknown   Precision = "unknown"
	DateWithheld  Precision = "withheld" // the policy gives no dates for the purpose
)

// contractTime is the form of times in the API contract.
const contractTime = "2006-01-02T15:04:05.000Z"

// datesOf returns the dates of a line for a purpose. A date is unknown where the supply
// does not show that it is the last one: nobody may conclude from our ignorance that
// nothing has changed.
func datesOf(l *linestore.Lookup, v line.View, purpose string, at time.Time) *Dates {
	form := l.Policy.DatesFor(purpose)
	switch {
	case form == policy.AbsentDates:
		withheld := Date{Precision: DateWithheld}
		return &Dates{withheld, withheld, withheld}
	case !tenureIsSure(l, v, at):
		unknown := Date{Precision: DateUnknown}
		return &Dates{unknown, unknown, unknown}
	}
	d := dateFinder{row: &l.Row, form: form, zone: l.Policy.Zone(), topics: l.Topics(l.Policy, at)}
	return &Dates{TenureStart: d.tenureStart(), LastSIMChange: d.lastSIMChange(), LastPort: d.lastPort()}
}

// sinceFor returns the time that changedSince is about when somebody asks about a time: the
// beginning of its month for a purpose that is given months, of its year for one that is given
// no dates, in the time zone of the policy. With the time as it was asked, a bisection would
// find any date to the second. It is never later than the time that was asked, so that
// nothing that has changed since is missed.
func sinceFor(p *policy.Policy, purpose string, since time.Time) time.Time {
	local := since.In(p.Zone())
	switch p.DatesFor(purpose) {
	case policy.ExactDates:
		return since
	case policy.MonthDates:
		return time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, local.Location()).UTC()
	case policy.AbsentDates:
	}
	return time.Date(local.Year(), time.January, 1, 0, 0, 0, 0, local.Location()).UTC()
}

// tenureIsSure reports whether the line has a tenure, nobody contradicts that, and every
// required topic is fresh.
func tenureIsSure(l *linestore.Lookup, v line.View, at time.Time) bool {
	now := line.InstantOf(at)
	row := l.Row.AsOf(now)
	inDoubt := row.DoubtAt != line.Never && row.DoubtAt <= now
	if v.Status == line.Unknown || !row.State.Ongoing() || inDoubt || l.Planned && !l.Allocated {
		return false
	}
	for _, t := range l.Topics(l.Policy, at) {
		if t.Required && !t.Fresh {
			return false
		}
	}
	return true
}

// dateFinder finds the dates of a line whose tenure is sure.
type dateFinder struct {
	row    *line.Row
	form   policy.DateForm
	zone   *time.Location
	topics [3]line.TopicState // LIFECYCLE, SIM and PORT
}

// tenureStart is the start of the tenure as it was reported.
func (d *dateFinder) tenureStart() Date {
	r := d.row
	switch {
	case r.ContestedTenure > r.Tenure:
		return Date{Precision: DateUnknown}
	case r.Tenure == line.Never:
		return Date{Precision: DateUnknown, KnownSince: d.topics[0].KnownSince}
	}
	return d.date(r.Tenure, line.TenureDay, d.topics[0].KnownSince)
}

// lastSIMChange is the last time at which the line got another SIM. That is a swap or a
// port, or else the start of the tenure, provided that a later swap would be known.
func (d *dateFinder) lastSIMChange() Date {
	r, lifecycle, sim := d.row, &d.topics[0], &d.topics[1]
	last, day := r.SIM, line.SIMDay
	if r.PortAt > last {
		last, day = r.PortAt, line.PortDay
	}
	if r.Tenure > last {
		last, day = r.Tenure, line.TenureDay
	}
	if !sim.Required || max(r.ContestedTenure, r.ContestedSIM, r.ContestedPort) > last {
		return Date{Precision: DateUnknown}
	}
	knownSince := sim.KnownSince
	if lifecycle.KnownSince.After(knownSince) { // a new holder has a new SIM
		knownSince = lifecycle.KnownSince
	}
	// The network's own snapshot has the last swap of the tenure, unless it says that
	// the swap is unknown.
	if last == line.Never || !d.inSnapshot() && last < line.InstantOf(knownSince) {
		return Date{Precision: DateUnknown, KnownSince: knownSince}
	}
	return d.date(last, day, knownSince)
}

// simBeforePort is how long before a port its SIM may have been handed out.
const simBeforePort = 7 * 24 * time.Hour

// lastPort is the last port of the line. While PORT is not required, networks
// report ports as a part of LIFECYCLE, and a port brings another SIM: there was none since shortly
// after the last change of the SIM that a network's own snapshot has.
func (d *dateFinder) lastPort() Date {
	r, topic := d.row, &d.topics[2]
	if !topic.Required {
		topic = &d.topics[0]
	}
	began := r.Tenure
	if began != line.Never && r.Bits&line.TenureDay != 0 {
		began = line.DayStart(began, d.zone)
	}
	switch {
	case r.ContestedPort > r.PortAt:
		return Date{Precision: DateUnknown}
	case r.PortAt != line.Never:
		return d.date(r.PortAt, line.PortDay, topic.KnownSince)
	case began != line.Never && line.InstantOf(topic.KnownSince) <= began:
		return Date{Precision: NeverHappened, KnownSince: topic.KnownSince}
	}
	noneSince := topic.KnownSince
	if !d.topics[2].Required && d.inSnapshot() && d.lastSIMChange().Value != nil {
		if since := d.hidden(max(r.Tenure, r.SIM).Add(simBeforePort)); since.Before(noneSince) {
			noneSince = since
		}
	}
	return Date{Precision: DateUnknown, KnownSince: noneSince}
}

// inSnapshot reports whether the network's own snapshot has the last swap of the tenure.
func (d *dateFinder) inSnapshot() bool {
	return d.row.Bits&line.OwnSnapshot != 0 && d.row.Bits&line.SIMUnknown == 0 && d.row.Tenure != line.Never
}

// hidden returns a time that is not earlier than another one, and no more exact than a date.
func (d *dateFinder) hidden(at line.Instant) time.Time {
	t := at.Time()
	if d.form == policy.MonthDates {
		local := t.In(d.zone)
		t = time.Date(local.Year(), local.Month()+1, 1, 0, 0, 0, 0, d.zone).UTC()
	}
	return t
}

// date returns a known date. Day is the bit that says whether it is a bare date.
func (d *dateFinder) date(at line.Instant, day line.Bits, knownSince time.Time) Date {
	t := at.Time()
	value, precision := t.Format(contractTime), ToTheSecond
	switch {
	case d.form == policy.MonthDates:
		value, precision = t.In(d.zone).Format("2006-01"), ToTheMonth
	case d.row.Bits&day != 0:
		value, precision = t.In(d.zone).Format(time.DateOnly), ToTheDay
	}
	return Date{Value: &value, Precision: precision, KnownSince: knownSince}
}
