package bot_test

import (
	"testing"

	"levelboard/internal/testing/discord"
)

func TestRolesFollowTheLevel(t *testing.T) {
	g := gophers(ada, bo, cy)
	g.Members[ada] = []string{staff}
	w := newWorld(t, g)
	w.makeGuild()
	w.setXP(bo, 150)
	w.call("PUT", "/v2/guilds/"+guildID+"/presence", map[string]any{"present": false, "userIds": []string{bo}})
	w.start()
	w.chat.WaitForRoles(t, guildID, bo, regular, veteran) // who was back before the bot came

	w.chat.Say(guildID, general, ada)
	w.chat.WaitForRoles(t, guildID, ada, regular, staff)
	w.front.cut()
	w.setXP(ada, 160)
	w.chat.WaitForRoles(t, guildID, ada, regular, veteran, staff)
	w.chat.Limit("DELETE /api/v10/guilds/{guild}/members/{user}/roles/{role}", 3)
	w.setXP(ada, 110)
	w.chat.WaitForRoles(t, guildID, ada, regular, staff)
	w.call("DELETE", "/v2/levels/"+guildID+"/users/"+ada, nil)
	w.chat.WaitForRoles(t, guildID, ada, staff)

	w.setXP(cy, 100)
	w.chat.WaitForRoles(t, guildID, cy, regular)
	w.configure(map[string]any{"curve": []float64{0, 20}}) // a reset
	w.chat.WaitForRoles(t, guildID, cy, regular, veteran)
	w.admin("POST", "/admin/guilds/"+guildID+"/reset", nil)
	w.chat.WaitForRoles(t, guildID, cy)
	w.chat.WaitForRoles(t, guildID, bo)
}

func TestRolesWithoutRights(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	w.chat.Forbid(guildID)
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitForLog("move the bot's role above it")
	w.waitForLog("allow it to View Channel and Send Messages")
	w.waitFor("the message", ada+" 100 1", w.board)
}

func TestWhoLeavesIsNotPresent(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.makeGuild()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.chat.Say(guildID, general, bo)
	w.chat.Leave(guildID, bo) // in the same second
	w.waitFor("who left", ada+" 100 1", w.board)
	w.chat.Join(guildID, bo)
	w.waitFor("who came back", bo+" 100 1, "+ada+" 100 1", w.board)
	w.chat.WaitForRoles(t, guildID, bo, regular)

	w.chat.Kick(guildID)
	w.chat.Invite(&discord.Guild{
		ID: guildID, Name: "Gophers of Discord", OwnerID: owner, Roles: gophers().Roles, Channels: gophers().Channels,
		Members: map[string][]string{owner: nil, ada: nil},
	})
	w.waitFor("who left before the bot was invited again", ada+" 100 1", w.board)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message after the bot was invited again", ada+" 100 2", w.board)
	w.chat.WaitForRoles(t, guildID, ada, regular)
}
