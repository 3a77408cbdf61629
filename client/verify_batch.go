package client

import (
	"context"
	"net/http"
	"net/url"
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

// VerifyBatch verifies up to 1,000 numbers at once. The results are in the order
// of the numbers; each answer has its own record. The error is about the whole
// call; a number without an answer has its own error in its result.
func (c *Client) VerifyBatch(ctx context.Context, apiKey Secret, phoneNumbers []string, o VerifyOptions) ([]BatchResult, error) {
	r, err := c.newRequest(ctx, "verify batch", "/api/v1/phone/api/phone-numbers/verify-batch")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(apiKey); err != nil {
		return nil, err
	}
	if err := r.sendJSON(o.fields("phoneNumbers", phoneNumbers)); err != nil {
		return nil, err
	}
	r.repeatable = true
	answer, err := send[envelope[struct {
		Results []batchResult `json:"results"`
	}]](ctx, c, r)
	if err != nil {
		return nil, err
	}
	if len(answer.Data.Results) != len(phoneNumbers) {
		return nil, r.incomplete()
	}
	results := make([]BatchResult, len(phoneNumbers))
	for i := range answer.Data.Results {
		got := &answer.Data.Results[i]
		switch {
		case got.PhoneNumber != phoneNumbers[i]:
			return nil, r.wrong("a result is about another number than the request")
		case got.Error != nil:
			results[i].Err = &Error{
				StatusCode: http.StatusOK, Code: got.Error.Code, Message: got.Error.Message, Violations: got.Error.Violations, RequestID: got.Error.RequestID,
			}
		case !got.complete() || !got.hasRequested(o):
			return nil, r.incomplete()
		default:
			results[i].Verification = &got.Verification
		}
	}
	return results, nil
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
