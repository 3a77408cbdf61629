package client

import (
	"context"
	"time"
)

// Status is the state of a line. The service may add words: treat one that you
// do not know as not [StatusNormal].
type Status string

// The states, the gravest first. When several hold, the service tells the one
// that stands highest; of RECYCLED, SWAPPED and PORTED, the most recent.
const (
	StatusBlacklisted  Status = "BLACKLISTED"   // confirmed by the regulator as not to be used
	StatusBarred       Status = "BARRED"        // its service is stopped
	StatusFlagged      Status = "FLAGGED"       // suspected of fraud
	StatusQuarantined  Status = "QUARANTINED"   // given up, and not yet given to another holder
	StatusRecycled     Status = "RECYCLED"      // has a new holder since a short time
	StatusSwapped      Status = "SWAPPED"       // its SIM was changed a short time ago
	StatusPorted       Status = "PORTED"        // moved to another network a short time ago
	StatusPendingChurn Status = "PENDING_CHURN" // its holder was told that it will be withdrawn
	StatusParked       Status = "PARKED"        // kept for its holder, on request
	StatusInactive     Status = "INACTIVE"      // not used for long
	StatusNormal       Status = "NORMAL"        // assigned, and nothing of the above is known
	StatusUnallocated  Status = "UNALLOCATED"   // belongs to nobody
	StatusUnknown      Status = "UNKNOWN"       // no record that is fresh enough to say
)

// Verification is what the service says of a number. The fields after the first
// five are there only if [VerifyOptions] asked for them.
type Verification struct {
	PhoneNumber   string    `json:"phoneNumber"` // as it was sent
	Status        Status    `json:"status"`
	RequestID     string    `json:"requestId"` // proves later what was asked and what was told
	MobileNetwork string    `json:"mobileNetwork"`
	VerifiedAt    time.Time `json:"verificationTimestamp"` // the moment for which the answer holds

	StatusReason string    `json:"statusReason,omitzero"` // why the line is UNALLOCATED or UNKNOWN; comes with the signals
	Signals      []Signal  `json:"signals,omitzero"`      // all that holds, the gravest first
	Coverage     *Coverage `json:"coverage,omitzero"`
	ChangedSince Changed   `json:"changedSince,omitzero"`
	Changes      []Change  `json:"changes,omitzero"` // what has changed, if something has
}

// Signal is one thing that holds for a line.
type Signal struct {
	Status Status    `json:"status"`
	Since  time.Time `json:"since,omitzero"` // zero when it is not known
	Until  time.Time `json:"until,omitzero"` // when the clock ends it; zero when it does not
	Source string    `json:"source"`         // who said so, such as OPERATOR
	Level  string    `json:"level,omitzero"` // of a flag: MEDIUM, HIGH or VERY_HIGH
}

// Coverage is how far the supply of the line's network reaches.
type Coverage struct {
	KnownSince      time.Time `json:"knownSince,omitzero"`      // zero when the network has never supplied
	SuppliedThrough time.Time `json:"suppliedThrough,omitzero"` // zero when nothing was said to be complete
}

// Changed says whether a line has changed. Only [ChangedNo] is reason to believe
// that it is as it was.
type Changed string

// The answers.
const (
	ChangedYes     Changed = "yes"
	ChangedNo      Changed = "no"
	ChangedUnknown Changed = "unknown" // the supply does not reach so far
)

// Change is what has changed about a line. The service may add words.
type Change string

// The changes.
const (
	ChangeHolder  Change = "HOLDER"
	ChangeSIM     Change = "SIM"
	ChangeNetwork Change = "NETWORK"
)

// VerifyOptions is what a question asks beyond the number.
type VerifyOptions struct {
	// Since asks whether the holder, the SIM or the network has changed after
	// that moment, such as the day on which your customer gave you the number.
	// Its fraction of a second does not count. Zero does not ask.
	Since time.Time

	// Signals asks for everything that holds for the line.
	Signals bool

	// Coverage asks how far the supply behind the answer reaches.
	Coverage bool
}

// Verify asks what state a phone number, in any of its usual spellings, is in.
// Trust the number only when the status is [StatusNormal]. [CodeNotApplicable]
// means that it is no mobile number of the country that the service answers for.
//
// Every question has its own record with the service. One that is repeated
// because its answer got lost may leave two.
func (c *Client) Verify(ctx context.Context, apiKey Secret, phoneNumber string) (*Verification, error) {
	return c.VerifyWith(ctx, apiKey, phoneNumber, VerifyOptions{})
}

// VerifyWith is [Client.Verify] with more questions about the same number. An
// answer that leaves one of them open is an error.
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
	case !v.whole() || !v.answers(o):
		return nil, r.incomplete()
	case v.PhoneNumber != phoneNumber:
		return nil, r.wrong("the answer is about another number than the question") // somebody between us mixed answers up
	}
	return &v, nil
}

// fields returns the body of a question about a number, or about several.
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
	if include != nil {
		fields["include"] = include
	}
	return fields
}

// whole reports whether v has what every answer has.
func (v *Verification) whole() bool {
	return v.Status != "" && v.RequestID != "" && !v.VerifiedAt.IsZero()
}

// answers reports whether v leaves nothing open that was asked.
func (v *Verification) answers(o VerifyOptions) bool {
	return (o.Since.IsZero() || v.ChangedSince != "") && (!o.Signals || v.Signals != nil) && (!o.Coverage || v.Coverage != nil)
}
