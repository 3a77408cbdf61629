package requests

import "github.com/lineproof/lineproof/internal/values/fault"

// codeHelp says what an error means and what to do about it.
type codeHelp struct {
	means, do string
	again     bool // sending the same request again can succeed
}

// helps are the errors that a request with an API key can get.
var helps = map[fault.Code]codeHelp{
	fault.InvalidArgument:      {"A field of the request is missing or has a wrong value.", "Correct the fields that are listed. The response has a message for each.", false},
	fault.OutOfRange:           {"The time in since is in the future, or before 1970.", "Send a time in the past.", false},
	fault.PermissionDenied:     {"The key lacks the right for this operation, or there is no mandate for onBehalfOf.", "Create a key with the right, or ask the regulator for the mandate.", false},
	fault.NotFound:             {"What the request names does not exist, or belongs to another organisation or mode.", "Check the id, and whether it was created with a key of the same mode.", false},
	fault.Aborted:              {"A request with the same Idempotency-Key is still in progress.", "Wait, then send it unchanged.", true},
	fault.AlreadyExists:        {"What the request would create exists already.", "Use what exists, or other values.", false},
	fault.IncompatibleState:    {"What the request names is in a state in which this cannot be done.", "Read its state first. A new request needs a new Idempotency-Key.", false},
	fault.Gone:                 {"The events after the cursor are no longer kept.", "Verify your numbers again, and read the feed from its oldest event.", false},
	fault.PayloadTooLarge:      {"The body or the file is larger than the operation allows.", "Send less, or several requests.", false},
	fault.UnsupportedMediaType: {"The operation does not take this Content-Type.", "Send JSON with Content-Type application/json, or a file in the documented form.", false},
	fault.NotApplicable:        {"The number is not a mobile number of this country, or a test key was used with a real number.", "Do not verify this number here, or use a live key.", false},
	fault.TooManyRequests:      {"The key, or all keys of your organisation together, sent more requests than their rate limit allows.", "Send requests more slowly, use batches, or ask the regulator for a higher limit.", true},
	fault.QuotaExceeded:        {"A quota of answers, or the budget of different numbers, is used up.", "Wait until it renews, or ask the regulator for a higher limit.", true},
	fault.ScanSuspected:        {"The requests of your organisation look like number scanning, so it is slowed to a tenth of its rate limits, or stopped.", "Stop whatever sends consecutive or unallocated numbers, and ask the regulator for a release.", true},
	fault.Internal:             {"The service failed.", "Send it once more. If it fails again, report the requestId to the operator of the service.", true},
	fault.Unavailable:          {"The service could not answer in time: it was too busy, or its database was not available.", "Send it again after the time in Retry-After. No answer was given and nothing is charged.", true},
	fault.MethodNotAllowed:     {"The path does not support this method.", "Use the method of the API reference.", false},

	fault.Unauthenticated: {}, fault.SecondFactorRequired: {}, fault.IncompleteAccount: {}, fault.PasswordRequired: {}, // never with a valid API key
}

func helpOf(code fault.Code) codeHelp { return helps[code] }
