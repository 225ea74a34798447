// Package guild holds a guild's settings: who owns it, whether and to whom its board is shown, its curve, its multipliers and its role
// rewards, with their validation and the JSON document of the admin API. It stores nothing.
//
// # Adding a setting
//
//  1. settings.go: a field of Settings with its name, its bounds and optional:"true". Its default stands in Defaults. A
//     value with a rule of its own is a type with UnmarshalText, whose error is the rule ("must be ..."); an item of a list can have SetDefaults.
//     What depends on another property stands in check.go. The API, the archives, PATCH, the audit log and the command read and write it by that.
//  2. docs/openapi.json: one property of GuildProperties, and a line in the example of a guild.
//  3. If managers may set it: its name in own (package guildsettings), its label and its value in settingsProperties, its text in formOf, and its
//     input in templates/pages/settings.html (package web). guild get of the command shows it by a line of facts.
//  4. The code that uses it, and a row in docs/settings.md.
//  5. document_test.go gives it a value that is no default in full, and refuse_test.go a wrong one.
package guild
