// Package api contains the published contract of the service. Callers read it at
// /openapi.yaml; tests compare the route table and the golden responses with it.
package api

import _ "embed"

// OpenAPI is the contract as an OpenAPI 3.1 document in YAML. Do not write to it:
// all readers share the same bytes.
//
//go:embed openapi.yaml
var OpenAPI []byte
