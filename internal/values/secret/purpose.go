package secret

// Purpose says what a sum of [Peppers.Sign] stands for. Each purpose has a key of its own,
// so a sum that is stored for one is valid for no other, and none is the key of another.
type Purpose uint8

// The purposes of sums.
const (
	ForCredentials       Purpose = iota // API keys, access tokens, sessions and client secrets
	ForLinks                            // tokens of links in e-mails
	ForDevices                          // tokens of devices that an account knows
	ForRecoveryCodes                    // recovery codes of an account
	ForAttempts                         // counters of logins and other attempts
	ForIdempotencyKeys                  // the Idempotency-Key of a request
	ForIdempotencyBodies                // the content of a request with an Idempotency-Key
	ForRefusedNumbers                   // numbers of requests that were refused
	ForAuditedNumbers                   // numbers that staff looked up
	ForPlanPreviews                     // a numbering plan that was shown before it is proposed
	ForNodes                            // peppers and settings that nodes compare
	ForPepperMarks                      // that a pepper was used with a database
	ForApplications                     // an application that was refused
	forPasswords                        // passwords, before argon2id
	forRows                             // rows that decide access
	purposes                            // their number
)

// Box says what [Peppers.Seal] encrypts. Each box has a key of its own.
type Box uint8

// The boxes.
const (
	SecondFactors Box = iota // secrets of authenticator apps
	WebhookKeys              // keys that sign webhook events
	SignIns                  // sign-ins that wait for a code
	boxes                    // their number
)

// The texts that tell HKDF what a key is for. They must never change: what is stored could
// be neither verified nor decrypted any more.
var (
	purposeInfo = [purposes]string{ //nolint:gosec // no credentials, but what they are for
		ForCredentials: "lineproof 1: HMAC of credentials", ForLinks: "lineproof 1: HMAC of links", ForDevices: "lineproof 1: HMAC of devices",
		ForRecoveryCodes: "lineproof 1: HMAC of recovery codes", ForAttempts: "lineproof 1: HMAC of attempts",
		ForIdempotencyKeys: "lineproof 1: HMAC of idempotency keys", ForIdempotencyBodies: "lineproof 1: HMAC of idempotent requests",
		ForRefusedNumbers: "lineproof 1: HMAC of refused numbers", ForAuditedNumbers: "lineproof 1: HMAC of audited numbers",
		ForPlanPreviews: "lineproof 1: HMAC of plan previews", ForNodes: "lineproof 1: HMAC of nodes", ForPepperMarks: "lineproof 1: HMAC of pepper marks",
		ForApplications: "lineproof 1: HMAC of applications",
		forPasswords:    "lineproof 1: HMAC of passwords before argon2id", forRows: "lineproof 1: HMAC of rows",
	}
	boxInfo = [boxes]string{
		SecondFactors: "lineproof 1: AES-256-GCM of second factors", WebhookKeys: "lineproof 1: AES-256-GCM of webhook keys",
		SignIns: "lineproof 1: AES-256-GCM of sign-ins",
	}
)

const versionInfo = "lineproof 1: version of a pepper"
