package client

import "time"

// Dates are the dates of the tenure that a line is in, the time for which one holder
// has the number. The regulator's policy decides by the purpose of the key how exact
// they are.
type Dates struct {
	TenureStart   Date `json:"tenureStart"`
	LastSIMChange Date `json:"lastSimChange"` // by a swap, a port or a new holder
	LastPort      Date `json:"lastPort"`
}

// Date is a date of a line.
type Date struct {
	// Value is a time, a day such as 2026-03-01 or a month such as 2026-03, as Precision
	// says; empty if there is none.
	Value     string    `json:"value,omitzero"`
	Precision Precision `json:"precision"`

	// KnownSince is since when every such change has been reported; zero if that is not
	// known. With [PrecisionUnknown] there was no such change after it.
	KnownSince time.Time `json:"knownSince,omitzero"`
}

// Precision says how exact a date is, or why it has no value. The service may add
// values: treat them as [PrecisionUnknown], and that as a recent change.
type Precision string

// The values of Precision.
const (
	PrecisionSecond   Precision = "second"
	PrecisionDay      Precision = "day"
	PrecisionMonth    Precision = "month"
	PrecisionNever    Precision = "never" // there was no such change in this tenure
	PrecisionUnknown  Precision = "unknown"
	PrecisionWithheld Precision = "withheld" // the policy gives no dates for the purpose of the key
)
