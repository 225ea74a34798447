// Package guild holds a guild's settings: owner, visibility, curve, multipliers, role rewards
// and more, with their validation and the JSON document of the admin API. It stores nothing.
//
// # Adding a setting
//
//  1. settings.go: a field of Settings with its name, its bounds and optional:"true". Defaults holds its default. A value with a
//     rule of its own is a type with UnmarshalText, whose error is the rule ("must be ..."). An item of a list can have SetDefaults.
//     check.go has rules that depend on another property. The API, the archives, PATCH, the audit log and the command follow from the field.
//  2. docs/openapi.json: one property of GuildProperties, and a line in the example of a guild.
//  3. properties/table.go (package properties): a row with its label, and its section of the settings page if managers may set it. The page's form, its
//     errors and conflicts, guild get and docs/settings.md (go test ./internal/domain/properties -update) follow from the row.
//  4. The code that uses it.
//  5. document_test.go: the constant full has a value that is not the default. refuse_test.go: a wrong value.
package guild
