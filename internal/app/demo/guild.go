// Package demo makes up a guild that looks real, to try the service out: its settings, its members, and
// their activity while the service runs. Only `levelboard demo` uses it. It touches no other guild.
package demo

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/signin"
)

const (
	// GuildID is the demo's guild.
	GuildID id.Guild = "731884926511480832"
	// GuildName is its name.
	GuildName = "Gopher Garden"
	// OwnerID owns the guild and its key.
	OwnerID id.User = "184213671298560001"
	// ownerName and ownerUsername name the owner; no other member has that username.
	ownerName     = "Robin"
	ownerUsername = "robin_of_the_garden"
	// Vanity is the vanity of its board.
	Vanity = "demo"
)

//go:embed guild.json
var guildDocument []byte

// Guild returns the guild's settings as the admin API takes them. The season is three months long and contains now.
// memberCount is above members, since not everybody in a community writes. enabled says that the board can be read.
func Guild(members int, now time.Time, enabled bool) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(guildDocument, &document); err != nil {
		return nil, fmt.Errorf("read the demo's guild: %w", err)
	}
	document["enabled"] = enabled
	document["memberCount"] = members + members/4 + 1
	year, month, _ := now.UTC().Date()
	document["seasons"] = []map[string]any{{
		"id": "garden-cup", "name": "Garden Cup",
		"start": period.DayOf(year, month-1, 1).String(), "end": period.DayOf(year, month+2, 1).String(),
	}}
	return json.Marshal(document)
}

// Visitors are the users that a visitor of the demo's pages can sign in as: the guild's
// owner, and member, who must be a plain member of the guild. Both are on its board.
func Visitors(member signin.User) []signin.Local {
	owned := signin.Guild{ID: GuildID, Name: GuildName, Owner: true}
	return []signin.Local{
		{User: signin.User{ID: OwnerID, Name: ownerName}, About: "who owns " + GuildName, Guilds: []signin.Guild{owned}},
		{User: member, About: "a member of " + GuildName, Guilds: []signin.Guild{{ID: GuildID}}},
	}
}
