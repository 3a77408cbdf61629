package client

import (
	"context"
	"io"
	"net/url"
)

// Receipt writes the receipt of an answer to w: the proof that the service gave it, for anybody to whom you
// give it. Package receipt verifies it. The log has an answer about a second after it: until then the service
// asks to wait, and the call is retried. A service without a public log has no receipts, which is
// [CodeNotFound]. If it fails, w may have received a part of it.
func (c *Client) Receipt(ctx context.Context, apiKey Secret, requestID string, w io.Writer) error {
	return c.receipt(ctx, apiKey, requestID, "application/json", w)
}

// ReceiptProof is [Client.Receipt] in the form of c2sp.org/tlog-proof, for programs that know that form.
func (c *Client) ReceiptProof(ctx context.Context, apiKey Secret, requestID string, w io.Writer) error {
	return c.receipt(ctx, apiKey, requestID, "text/plain", w)
}

func (c *Client) receipt(ctx context.Context, apiKey Secret, requestID, form string, w io.Writer) error {
	r, err := c.newRead(ctx, "receipt", "/api/v1/phone/api/phone-numbers/verifications/"+url.PathEscape(requestID)+"/receipt", apiKey)
	if err != nil {
		return err
	}
	r.header.Set("Accept", form)
	r.into = w
	_, err = c.sendWithRetries(ctx, r)
	return err
}
