// Package docs holds the documents that the binary carries with it, and no code.
package docs

import _ "embed"

// OpenAPI is the description of the API, an OpenAPI 3.1 document in JSON. Do not change its bytes.
//
//go:embed openapi.json
var OpenAPI []byte
