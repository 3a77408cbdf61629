package verify

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/policy"
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
	inSnapshot := r.Bits&line.OwnSnapshot != 0 && r.Bits&line.SIMUnknown == 0 && r.Tenure != line.Never
	if last == line.Never || !inSnapshot && last < line.InstantOf(knownSince) {
		return Date{Precision: DateUnknown, KnownSince: knownSince}
	}
	return d.date(last, day, knownSince)
}

// lastPort is the last port of the line. While no clearing house is named, networks
// report ports as a part of LIFECYCLE.
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
	return Date{Precision: DateUnknown, KnownSince: topic.KnownSince}
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
