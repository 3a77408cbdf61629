package receipt

import (
	_ "embed"
	"strings"
)

//go:embed verify.mjs
var proofModule string

//go:embed promise.mjs
var promiseModule string

// Module returns the verifiers in JavaScript as one text, for pages: it exports verify,
// verifyPromise and Refused.
func Module() string {
	_, promises, _ := strings.Cut(promiseModule, "from './verify.mjs'\n")
	return proofModule + promises
}
