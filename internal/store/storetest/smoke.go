package storetest

import (
	"slices"
	"testing"
)

// smoke names cases that between them run every script and get every refusal; a test in redisstore proves it. A script does not behave
// differently behind TLS, an ACL or a redirect, so these are enough for connections of other kinds.
var smoke = []string{
	"a guild that is not loaded",
	"create",
	"delete",
	"pages",
	"concurrent changes of every kind have an order",
	"an award that is asked for again",
	"one of many requests with one key",
	"a repeated request after its record was lost",
	"the index of changed guilds",
	"a lost hydration lock",
	"one of many hydrations at once",
	"a loaded guild is verified again",
	"a guild is frozen until its changes are archived",
	"changes that were read and not ended",
	"of many guilds each has its own answer",
	"a cold guild leaves",
	"members are noted again",
	"what is known to be archived is lowered",
	"gains are counted",
	"a kind that is turned on, off, and on again",
	"members are put in every mode",
	"who is not present is on no board",
	"positions in running periods",
	"positions and surroundings that cannot be read",
	"changes are recorded with their author",
	"an erased member",
	"events of an erased member",
	"access of an erased user",
	"who is hidden is on no board",
}

// SmokeBoard runs some cases of Board.
func SmokeBoard(t *testing.T, open func(t *testing.T) Store) {
	var cases []boardCase
	for _, name := range smoke {
		at := slices.IndexFunc(allCases, func(c boardCase) bool { return c.name == name })
		if at < 0 {
			t.Fatalf("no case is called %q", name)
		}
		cases = append(cases, allCases[at])
	}
	runBoard(t, open, cases)
}
