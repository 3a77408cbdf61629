// Package api holds the published contract of the service. Callers read it at
// /openapi.yaml; tests hold the route table and the golden answers to it.
package api

import _ "embed"

// OpenAPI is the contract as an OpenAPI 3.1 document in YAML. Nobody may write
// to it: every reader shares the same bytes.
//
//go:embed openapi.yaml
var OpenAPI []byte
