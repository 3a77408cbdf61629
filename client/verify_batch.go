package client

import (
	"context"
	"net/http"
	"net/url"
)

// BatchResult is what became of one number of a batch: the answer, or why there
// is none.
type BatchResult struct {
	*Verification        // nil when there is no answer
	Err           *Error // nil when there is one; CodeUnavailable means that asking again shortly may help
}

// batchResult is a result as it is sent.
type batchResult struct {
	Verification

	Error *problem `json:"error"`
}

// VerifyBatch asks about up to 1,000 numbers at once. The results are in the
// order of the numbers; each answer has a record of its own. The error is about
// the whole call; a single number that has no answer has its own in its result.
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
			return nil, r.wrong("an answer is about another number than the question")
		case got.Error != nil:
			results[i].Err = &Error{
				StatusCode: http.StatusOK, Code: got.Error.Code, Message: got.Error.Message, Violations: got.Error.Violations, RequestID: got.Error.RequestID,
			}
		case !got.whole() || !got.answers(o):
			return nil, r.incomplete()
		default:
			results[i].Verification = &got.Verification
		}
	}
	return results, nil
}

// Verification returns the recorded answer of an earlier question of the same
// entity, in the words in which it was given. It does not ask again.
func (c *Client) Verification(ctx context.Context, apiKey Secret, requestID string) (*Verification, error) {
	r, err := c.reading(ctx, "verification", "/api/v1/phone/api/phone-numbers/verifications/"+url.PathEscape(requestID), apiKey)
	if err != nil {
		return nil, err
	}
	answer, err := send[envelope[Verification]](ctx, c, r)
	v := answer.Data
	switch {
	case err != nil:
		return nil, err
	case !v.whole():
		return nil, r.incomplete()
	case v.RequestID != requestID:
		return nil, r.wrong("the answer is about another verification than was asked for")
	}
	return &v, nil
}
