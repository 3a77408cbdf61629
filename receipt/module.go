package receipt

import _ "embed"

// Module is the verifier in JavaScript, for pages: it exports verify and Refused.
//
//go:embed verify.mjs
var Module string
