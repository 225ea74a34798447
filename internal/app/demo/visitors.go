package demo

import "levelboard/internal/usecase/signin"

// Visitors are who a visitor of the demo's pages can be: the guild's owner, and a plain member. Both are to be
// found on its board; member is one of the guild's.
func Visitors(member signin.User) []signin.Local {
	owned := signin.Guild{ID: GuildID, Name: GuildName, Owner: true}
	return []signin.Local{
		{User: signin.User{ID: OwnerID, Name: ownerName}, About: "who owns " + GuildName, Guilds: []signin.Guild{owned}},
		{User: member, About: "a member of " + GuildName, Guilds: []signin.Guild{{ID: GuildID}}},
	}
}
