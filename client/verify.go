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

// Verification is what the service says of a number.
type Verification struct {
	PhoneNumber   string    `json:"phoneNumber"` // as it was sent
	Status        Status    `json:"status"`
	RequestID     string    `json:"requestId"` // proves later what was asked and what was told
	MobileNetwork string    `json:"mobileNetwork"`
	VerifiedAt    time.Time `json:"verificationTimestamp"` // the moment for which the answer holds
}

// Verify asks what state a phone number, in any of its usual spellings, is in.
// Trust the number only when the status is [StatusNormal]. [CodeNotApplicable]
// means that it is no mobile number of the country that the service answers for.
//
// Every question has its own record with the service. One that is repeated
// because its answer got lost may leave two.
func (c *Client) Verify(ctx context.Context, apiKey Secret, phoneNumber string) (*Verification, error) {
	r, err := c.newRequest(ctx, "verify", "/api/v1/phone/api/phone-numbers/verify")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(apiKey); err != nil {
		return nil, err
	}
	if err := r.sendJSON(map[string]any{"phoneNumber": phoneNumber}); err != nil {
		return nil, err
	}
	r.repeatable = true
	answer, err := send[envelope[Verification]](ctx, c, r)
	v := answer.Data
	switch {
	case err != nil:
		return nil, err
	case v.Status == "" || v.RequestID == "" || v.VerifiedAt.IsZero():
		return nil, r.incomplete()
	case v.PhoneNumber != phoneNumber:
		return nil, r.wrong("the answer is about another number than the question") // somebody between us mixed answers up
	}
	return &v, nil
}
