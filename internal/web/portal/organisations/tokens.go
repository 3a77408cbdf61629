package organisations

// tokenPath is the API path at which a client gets an access token.
const tokenPath = "/api/auth/token" //nolint:gosec // a path, not a token

// TokenExample is the command by which a client gets an access token.
func TokenExample(base, id, secret string) string {
	return `curl -sS ` + base + tokenPath + ` \
  -u '` + id + `:` + secret + `' \
  -d grant_type=client_credentials
`
}
