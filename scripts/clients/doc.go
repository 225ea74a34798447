// Package clients tests the Go client that oapi-codegen makes of docs/openapi.json. Only scripts/clients-check makes the client, so the
// package compiles only there.
package clients

// What the client and the code of docs/announcements.md import, for go.mod.
import (
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
	_ "github.com/standard-webhooks/standard-webhooks/libraries/go"
)
