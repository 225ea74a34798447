package demo

import "levelboard/internal/signin"

// Visitors are who a visitor of the demo's pages can be: the guild's owner, and a plain member. member is one of the
// guild's, to be found on its board.
func Visitors(member signin.User) []signin.Local {
	owned := signin.Guild{ID: GuildID, Name: GuildName, Owner: true}
	return []signin.Local{
		{User: signin.User{ID: OwnerID, Name: "Robin"}, About: "who owns " + GuildName, Guilds: []signin.Guild{owned}},
		{User: member, About: "a member of " + GuildName, Guilds: []signin.Guild{{ID: GuildID}}},
	}
}
