package storetest

import (
	"slices"
	"testing"
)

// smoke names cases that together run every script and get every refusal, as a test in redisstore checks. A script behaves the same behind
// TLS, an ACL or a redirect, so these cases are enough for such connections.
var smoke = []string{
	"a guild must be loaded",
	"create",
	"delete",
	"pages",
	"concurrent changes of every kind have an order",
	"a repeated award is made once",
	"one of many equal requests is made",
	"a repeated request after its record was lost",
	"the index of changed guilds",
	"a lost hydration lock stops a load",
	"one of many hydrations runs",
	"a loaded guild can be verified again",
	"a guild is frozen until it is archived",
	"changes that were read still wait",
	"each guild of many has its own answer",
	"a cold guild is evicted",
	"members can be noted as unsaved",
	"the archived rev can be lowered",
	"gains are counted",
	"a kind can be switched on, off and on again",
	"members are put in every mode",
	"an absent member is on no board",
	"positions in running periods",
	"positions and surroundings that cannot be read",
	"changes are recorded with their author",
	"an erased member leaves the guild",
	"an erased member's events are gone",
	"an erased user's sessions end",
	"a hidden member is on no board",
}

// SmokeBoard runs some cases of Board.
func SmokeBoard(t *testing.T, open func(t *testing.T) Store) {
	var cases []boardCase
	for _, name := range smoke {
		at := slices.IndexFunc(allCases, func(c boardCase) bool { return c.name == name })
		if at < 0 {
			t.Fatalf("smoke names the unknown case %q", name)
		}
		cases = append(cases, allCases[at])
	}
	runBoard(t, open, cases)
}
