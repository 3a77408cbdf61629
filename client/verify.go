package client

import (
	"context"
	"encoding/json"
	"time"
)

// Status is the state of a line. The service may add values: treat an unknown
// value as not [StatusNormal].
type Status string

// The states, most serious first. If several apply, the service returns the
// highest; of RECYCLED, SWAPPED and PORTED, the most recent.
const (
	StatusBlacklisted  Status = "BLACKLISTED"   // blacklisted by the regulator: do not use it
	StatusBarred       Status = "BARRED"        // its service is stopped
	StatusFlagged      Status = "FLAGGED"       // suspected of fraud
	StatusQuarantined  Status = "QUARANTINED"   // its holder has left, and it has no new holder yet
	StatusRecycled     Status = "RECYCLED"      // recently got a new holder
	StatusSwapped      Status = "SWAPPED"       // its SIM was changed recently
	StatusPorted       Status = "PORTED"        // recently moved to another network
	StatusPendingChurn Status = "PENDING_CHURN" // its holder was notified that it will be withdrawn
	StatusParked       Status = "PARKED"        // kept for its holder, on request
	StatusInactive     Status = "INACTIVE"      // not used for a long time
	StatusNormal       Status = "NORMAL"        // assigned, and none of the above applies
	StatusUnallocated  Status = "UNALLOCATED"   // has no holder
	StatusUnknown      Status = "UNKNOWN"       // no operator reports that are recent enough
)

// Verification is the answer about a number. The fields after the first five are
// set only if [VerifyOptions] requested them.
type Verification struct {
	PhoneNumber   string    `json:"phoneNumber"` // as it was sent
	Status        Status    `json:"status"`
	RequestID     string    `json:"requestId"` // proves the request and the answer later
	MobileNetwork string    `json:"mobileNetwork"`
	VerifiedAt    time.Time `json:"verificationTimestamp"` // the time for which the answer is valid

	StatusReason string    `json:"statusReason,omitzero"` // why the line is UNALLOCATED or UNKNOWN; comes with the signals
	Signals      []Signal  `json:"signals,omitzero"`      // everything that applies, most serious first
	Coverage     *Coverage `json:"coverage,omitzero"`
	Dates        *Dates    `json:"dates,omitzero"`
	ChangedSince Changed   `json:"changedSince,omitzero"`
	SinceUsed    time.Time `json:"sinceUsed,omitzero"` // the time that ChangedSince is about: the one that was asked, or the beginning of its month or year, as the purpose allows
	Changes      []Change  `json:"changes,omitzero"`   // what changed, if anything did

	// KnownThrough is the time up to which ChangedSince was determined; zero if the
	// reports cover nothing.
	KnownThrough time.Time `json:"knownThrough,omitzero"`

	// ExternalID is that of the [VerifyOptions] or of the [BatchNumber].
	ExternalID string `json:"externalId,omitzero"`

	// Receipt promises that the public log will have this answer. Package receipt verifies
	// it. It is missing while the service can't promise.
	Receipt json.RawMessage `json:"receipt,omitzero"`
}

// Signal is something that applies to a line.
type Signal struct {
	Status Status    `json:"status"`
	Since  time.Time `json:"since,omitzero"` // zero if it is not known
	Until  time.Time `json:"until,omitzero"` // when it ends without a further event; zero if it does not
	Source string    `json:"source"`         // who reported it, such as OPERATOR
	Level  string    `json:"level,omitzero"` // of a flag: MEDIUM, HIGH or VERY_HIGH

	Contested bool `json:"contested,omitzero"` // the operator withdrew the event; the signal stays until it would have ended
}

// Coverage is the period that the reports about the line's network cover, over all
// required topics and for each.
type Coverage struct {
	KnownSince      time.Time       `json:"knownSince,omitzero"`      // zero if the network has never reported
	SuppliedThrough time.Time       `json:"suppliedThrough,omitzero"` // zero if no period was stated to be complete
	Topics          []TopicCoverage `json:"topics,omitzero"`
}

// TopicCoverage is the period that the reports about one topic cover.
type TopicCoverage struct {
	Topic           string    `json:"topic"`                    // TopicLifecycle and the like
	KnownSince      time.Time `json:"knownSince,omitzero"`      // zero if it was never reported
	SuppliedThrough time.Time `json:"suppliedThrough,omitzero"` // zero if no period was stated to be complete
	Required        bool      `json:"required"`                 // the policy requires it for StatusNormal
	Fresh           bool      `json:"fresh"`                    // it is as recent as the policy requires
}

// Changed says whether a line has changed. Treat every value but [ChangedNo] as a
// change.
type Changed string

// The values of Changed.
const (
	ChangedYes     Changed = "yes"
	ChangedNo      Changed = "no"
	ChangedUnknown Changed = "unknown" // the reports do not cover the whole time
)

// Change is a kind of change of a line. The service may add values.
type Change string

// The values of Change.
const (
	ChangeHolder  Change = "HOLDER"
	ChangeSIM     Change = "SIM"
	ChangeNetwork Change = "NETWORK"
)

// VerifyOptions are the optional parts of an answer.
type VerifyOptions struct {
	// Since requests whether the holder, the SIM or the network has changed after
	// that time, such as the day on which your customer gave you the number. Its
	// fraction of a second is ignored. Zero requests nothing.
	Since time.Time

	// Signals requests everything that applies to the line.
	Signals bool

	// Coverage requests the period that the operator's reports cover.
	Coverage bool

	// Dates requests when the tenure began, when the SIM last changed and when the
	// number was last ported.
	Dates bool

	// Receipt requests a receipt. A service without a public log refuses the request.
	Receipt bool

	// OnBehalfOf is the principal for whom an agent asks, as the mandate that the
	// regulator recorded names it. Empty asks for yourself.
	OnBehalfOf string

	// ExternalID is your own id of the question, at most 64 printable characters, repeated in the answer. The
	// numbers of a batch have ids of their own: see [BatchNumber].
	ExternalID string
}

// Verify returns the state of a phone number, which may have any usual format.
// Trust the number only if the status is [StatusNormal]. [CodeNotApplicable] means
// that it is not a mobile number of the service's country.
//
// Every request has its own record with the service. A request that is retried
// because its response was lost may leave two.
func (c *Client) Verify(ctx context.Context, apiKey Secret, phoneNumber string) (*Verification, error) {
	return c.VerifyWith(ctx, apiKey, phoneNumber, VerifyOptions{})
}

// VerifyWith is [Client.Verify] with options. An answer that lacks one of the
// requested parts, other than the receipt, is an error.
func (c *Client) VerifyWith(ctx context.Context, apiKey Secret, phoneNumber string, o VerifyOptions) (*Verification, error) {
	r, err := c.newRequest(ctx, "verify", "/api/v1/phone/api/phone-numbers/verify")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(apiKey); err != nil {
		return nil, err
	}
	if err := r.sendJSON(o.fields("phoneNumber", phoneNumber)); err != nil {
		return nil, err
	}
	r.repeatable = true
	answer, err := send[envelope[Verification]](ctx, c, r)
	v := answer.Data
	switch {
	case err != nil:
		return nil, err
	case !v.complete() || !v.hasRequested(o):
		return nil, r.incomplete()
	case v.PhoneNumber != phoneNumber:
		return nil, r.wrong("the response is about another number than the request") // a proxy mixed up responses
	}
	return &v, nil
}

// fields returns the body of a request about one number or several.
func (o VerifyOptions) fields(name string, about any) map[string]any {
	fields := map[string]any{name: about}
	if !o.Since.IsZero() {
		fields["since"] = o.Since.UTC().Format(time.RFC3339)
	}
	var include []string
	if o.Signals {
		include = append(include, "signals")
	}
	if o.Coverage {
		include = append(include, "coverage")
	}
	if o.Dates {
		include = append(include, "dates")
	}
	if o.Receipt {
		include = append(include, "receipt")
	}
	if include != nil {
		fields["include"] = include
	}
	if o.OnBehalfOf != "" {
		fields["onBehalfOf"] = o.OnBehalfOf
	}
	if o.ExternalID != "" {
		fields["externalId"] = o.ExternalID
	}
	return fields
}

// complete reports whether v has the fields that every answer has.
func (v *Verification) complete() bool {
	return v.Status != "" && v.RequestID != "" && !v.VerifiedAt.IsZero()
}

// hasRequested reports whether v has every requested part of the recorded answer.
func (v *Verification) hasRequested(o VerifyOptions) bool {
	return (o.Since.IsZero() || v.ChangedSince != "") && (!o.Signals || v.Signals != nil) && (!o.Coverage || v.Coverage != nil) && (!o.Dates || v.Dates != nil)
}
