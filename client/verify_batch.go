package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"
)

// BatchResult is the result for one number of a batch: the answer, or an error.
type BatchResult struct {
	*Verification        // nil if there is no answer
	Err           *Error // nil if there is an answer; CodeUnavailable means that a retry may help
}

// batchResult is a result in the response.
type batchResult struct {
	Verification

	Error *problem `json:"error"`
}

// BatchNumber is a number of a batch, with options of its own.
type BatchNumber struct {
	PhoneNumber string
	Since       time.Time // as in [VerifyOptions], which it replaces; zero leaves that of the batch
	ExternalID  string    // your own id of the number, at most 64 printable characters; repeated in the result
}

// VerifyBatch verifies up to 1,000 numbers at once. The results are in the order
// of the numbers; each answer has its own record. The error is about the whole
// call; a number without an answer has its own error in its result.
func (c *Client) VerifyBatch(ctx context.Context, apiKey Secret, phoneNumbers []string, o VerifyOptions) ([]BatchResult, error) {
	numbers := make([]BatchNumber, len(phoneNumbers))
	for i, n := range phoneNumbers {
		numbers[i].PhoneNumber = n
	}
	return c.VerifyNumbers(ctx, apiKey, numbers, o)
}

// VerifyNumbers is [Client.VerifyBatch] for numbers that have dates or ids of their
// own.
func (c *Client) VerifyNumbers(ctx context.Context, apiKey Secret, numbers []BatchNumber, o VerifyOptions) ([]BatchResult, error) {
	r, err := c.newRequest(ctx, "verify batch", "/api/v1/phone/api/phone-numbers/verify-batch")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(apiKey); err != nil {
		return nil, err
	}
	if o.ExternalID != "" {
		return nil, r.wrong("a batch has no external id, only each of its numbers")
	}
	list := make([]any, len(numbers))
	for i := range numbers {
		if list[i], err = numbers[i].value(r); err != nil {
			return nil, err
		}
	}
	if err := r.sendJSON(o.fields("phoneNumbers", list)); err != nil {
		return nil, err
	}
	r.repeatable = true
	answer, err := send[envelope[struct {
		Results []batchResult `json:"results"`
	}]](ctx, c, r)
	if err != nil {
		return nil, err
	}
	if len(answer.Data.Results) != len(numbers) {
		return nil, r.incomplete()
	}
	results := make([]BatchResult, len(numbers))
	for i := range answer.Data.Results {
		got := &answer.Data.Results[i]
		requested := o
		if !numbers[i].Since.IsZero() {
			requested.Since = numbers[i].Since
		}
		switch {
		case got.PhoneNumber != numbers[i].PhoneNumber || got.ExternalID != numbers[i].ExternalID:
			return nil, r.wrong("a result is about another number than the request")
		case got.Error != nil:
			results[i].Err = &Error{
				StatusCode: http.StatusOK, Code: got.Error.Code, Message: got.Error.Message, Violations: got.Error.Violations, RequestID: got.Error.RequestID,
			}
		case !got.complete() || !got.hasRequested(requested):
			return nil, r.incomplete()
		default:
			results[i].Verification = &got.Verification
		}
	}
	return results, nil
}

// value returns the number as the request has it: a string, unless it has options.
func (n *BatchNumber) value(r *request) (any, error) {
	for name, text := range map[string]string{"a phone number": n.PhoneNumber, "an external id": n.ExternalID} {
		if !utf8.ValidString(text) {
			return nil, r.wrong(name + " is not valid UTF-8")
		}
	}
	if n.Since.IsZero() && n.ExternalID == "" {
		return n.PhoneNumber, nil
	}
	fields := map[string]string{"phoneNumber": n.PhoneNumber}
	if !n.Since.IsZero() {
		fields["since"] = formatTime(n.Since)
	}
	if n.ExternalID != "" {
		fields["externalId"] = n.ExternalID
	}
	return fields, nil
}

// Verification returns the recorded answer of an earlier request of the same
// entity, unchanged. The number is not verified again.
func (c *Client) Verification(ctx context.Context, apiKey Secret, requestID string) (*Verification, error) {
	r, err := c.newRead(ctx, "verification", "/api/v1/phone/api/phone-numbers/verifications/"+url.PathEscape(requestID), apiKey)
	if err != nil {
		return nil, err
	}
	answer, err := send[envelope[Verification]](ctx, c, r)
	v := answer.Data
	switch {
	case err != nil:
		return nil, err
	case !v.complete():
		return nil, r.incomplete()
	case v.RequestID != requestID:
		return nil, r.wrong("the response is about another verification than the request")
	}
	return &v, nil
}
