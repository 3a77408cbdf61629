// Package client is the Go client of a Lineproof service: it verifies phone
// numbers, onboards telcos, uploads their documents and logs in their admins.
//
// It promises three things. A request is retried only where that is safe. No verb
// of package fmt, no logger and no error shows a credential or a password. And a
// response that is incomplete, or about another number than the requested one, is
// an error and never a half-filled value.
//
// # Start
//
// A [Client] needs a URL; everything else has a default. Use one for the whole
// program; it is safe for concurrent use:
//
//	c := &client.Client{BaseURL: "https://lineproof.example"}
//	key := client.Secret(os.Getenv("LINEPROOF_API_KEY"))
//
//	v, err := c.Verify(ctx, key, "+2348031234567")
//	if err != nil {
//		return err
//	}
//	if v.Status != client.StatusNormal {
//		return errRefuse // also for a status that is new to you
//	}
//
// [Client.VerifyWith] returns more about the same number: whether anything has
// changed since your customer gave it to you, what else applies to the line, and
// the period that the operator's reports cover.
//
// # Credentials
//
// Each operation takes its own credential as a [Secret]. [Client.Verify] takes
// the API key of an organisation. [Client.Onboard] takes an access
// token, which [Client.Token] gets for a client's id and secret.
// [Client.UploadDocument] takes an access token too, or an admin's session,
// which [Client.Login] creates; so do [Client.Documents] and [Client.Document],
// which return the state of documents. The operations on lines, from
// [Client.ReportEvents] and [Client.SendLines] to [Client.History], take an access
// token with one of the scopes on lines, or a session of the regulator's staff.
// String literals can be used as a Secret; other strings are converted, and
// string(s) returns the characters.
//
// # Errors
//
// An error response of the service is an [*Error]. Check its code:
//
//	switch client.CodeOf(err) {
//	case client.CodeAlreadyExists:
//		// the admin has an account: use another address and number
//	case client.CodeNotApplicable:
//		// not a mobile number of the service's country
//	}
//
// Any other error means that the arguments are wrong, or that no usable response
// arrived. It wraps its cause, so that [errors.Is] finds
// [context.DeadlineExceeded] and others.
//
// # Retries
//
// The client retries up to three times, or as often as Retries of the [Client]
// says, with exponential backoff and jitter:
//
//   - after 429 and 503, for every operation: the service refused the request. It
//     waits at least for the time in Retry-After.
//   - after a connection that could not be opened, for every operation.
//   - after a connection that broke, and after 500, 502 and 504, for every
//     operation but two: a [Client.Login] that was carried out has created a
//     session, and a [Client.ReviewDocument] that was carried out would be refused
//     the second time.
//   - after 409 ABORTED: an earlier attempt is in progress.
//
// Onboarding, uploads, imports, orders, jobs, watch-lists and webhook endpoints
// create something. They are safe to retry because every attempt has the same
// Idempotency-Key, for which the service returns the first response, without the
// secret that the first one may have had. The client creates a key for each call; set your own
// to be safe across restarts of your program, too. Events need none: each has an
// id. A retried Verify may leave a second record with the service, of a response
// that did not reach you.
//
// No attempt starts more than a minute after the first one, or after the context's
// deadline. If the service asks for a longer pause than that allows, its error is
// returned at once, and RetryAfter of [Error] says when to retry.
package client
