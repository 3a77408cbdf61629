// Package client speaks to a Lineproof service: it verifies phone numbers,
// onboards telcos, uploads their documents and logs their admins in.
//
// It promises three things. A request is repeated only where repeating it is
// safe. A credential or a password is shown by no verb of package fmt, no
// logger and no error. And an answer that is not whole, or is about another
// number than the one that was asked about, is an error and never a half-filled
// value.
//
// # Start
//
// A [Client] needs an address; everything else has a default. Keep one for the
// whole program, it may be used by many goroutines at once:
//
//	c := &client.Client{BaseURL: "https://lineproof.example"}
//	key := client.Secret(os.Getenv("LINEPROOF_API_KEY"))
//
//	v, err := c.Verify(ctx, key, "+2348031234567")
//	if err != nil {
//		return err
//	}
//	if v.Status != client.StatusNormal {
//		return errRefuse // whatever the word is, also one that is new to you
//	}
//
// [Client.VerifyWith] asks more about the same number: whether anything has
// changed since your customer gave it to you, what else holds for the line, and
// how far the supply behind the answer reaches.
//
// # Credentials
//
// Each operation takes its own credential as a [Secret]. [Client.Verify] takes
// the API key of an organisation that asks. [Client.Onboard] takes an access
// token, which [Client.Token] gets for a client's id and secret.
// [Client.UploadDocument] takes an access token too, or an admin's session,
// which [Client.Login] opens; so do [Client.Documents] and [Client.Document],
// which show what became of a document. The operations on lines, from
// [Client.TellEvents] and [Client.SendLines] to [Client.History], take an access
// token with one of the scopes on lines, or a session of the regulator's staff.
// Literals become a Secret by themselves; other strings are converted, and
// string(s) gives the characters back.
//
// # Errors
//
// A refusal by the service is an [*Error]. Decide by its code:
//
//	switch client.CodeOf(err) {
//	case client.CodeAlreadyExists:
//		// e, _ := errors.AsType[*client.Error](err); e.Violations names the fields
//	case client.CodeNotApplicable:
//		// not a number that this service answers for
//	}
//
// Any other error means that the request could not be sent as it was given, or
// that no answer came that can be used. It wraps its cause, so that [errors.Is]
// finds [context.DeadlineExceeded] and its kin.
//
// # Repeated requests
//
// The client asks again up to three times, or as often as Retries of the [Client]
// says, with growing, uneven pauses:
//
//   - after 429 and 503, for every operation: the service turned the request
//     away. It waits at least as long as Retry-After says.
//   - after a connection that could not be made, for every operation.
//   - after a connection that broke, and after 500, 502 and 504, for every
//     operation but two: a [Client.Login] that was done opened a session, and a
//     [Client.ReviewDocument] that was done would be refused the second time.
//   - after 409 ABORTED: an earlier attempt is still being worked on.
//
// Onboarding, uploading, sending lines and giving orders create something. They
// are safe to repeat because every attempt carries the same Idempotency-Key, for
// which the service gives the first answer again. The client makes a key for each
// call; set your own to be safe across restarts of your program too. Events need
// none: each is known by its id. A repeated Verify may leave one more record with
// the service, of a question whose answer never reached you.
//
// No attempt begins more than a minute after the first one, or after the
// context's deadline. When the service asks for a longer pause than that leaves,
// its refusal is returned at once, and RetryAfter of [Error] says when to come
// back.
package client
