package bot_test

import (
	"testing"

	"levelboard/internal/testing/discord"
)

// TestAKeyServesItsGuilds: without the admin token nothing is set up, and a guild without a grant is left alone.
func TestAKeyServesItsGuilds(t *testing.T) {
	other := gophers(ada)
	other.ID = "200000000000000002"
	other.Channels = []discord.Channel{{ID: "400000000000000009", Name: "general"}}
	w := newWorld(t, gophers(ada, bo), other)
	w.makeGuild()
	w.call("GET", "/v2/levels/"+guildID+"?page=1", nil) // makes the key
	w.start("LEVELBOARD_ADMIN_TOKEN=", "LEVELBOARD_KEY="+w.key)
	w.chat.WaitForCommands(t)
	w.chat.Say(other.ID, "400000000000000009", ada)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.chat.WaitForRoles(t, guildID, ada, regular)
	w.waitForLog("no such guild in Levelboard")
	if d := w.document(); d["name"] != "Gophers of Discord" || d["memberCount"] != 4.0 {
		t.Errorf("the directory was not sent: %v, %v members", d["name"], d["memberCount"])
	}
}
