package bot_test

import (
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/discord"
)

func TestHiding(t *testing.T) {
	g := gophers(ada, bo, cy)
	g.Members[ada] = []string{staff}
	w := newWorld(t, g)
	w.makeGuild()
	for _, user := range []string{ada, bo, cy} {
		w.setXP(user, 100)
	}
	w.call("PUT", "/v2/guilds/"+guildID+"/hidden", map[string]any{"hidden": true, "userIds": []string{cy}}).Want(t, 200)
	stop := w.start("LEVELBOARD_BOT_HIDE_ROLES=STAFF")
	w.waitFor("who has the role is hidden", bo+" 100 0", w.board)
	w.chat.WaitForRoles(t, guildID, ada, regular, staff) // hidden members have their roles
	w.chat.WaitForRoles(t, guildID, cy, regular)

	if r := w.chat.Command(t, guildID, discord.Use{UserID: ada, Command: "rank"}); !r.Private || !strings.Contains(r.Content, "hidden") {
		t.Errorf("/rank of oneself, hidden, is %+v", r.Content)
	}
	of := map[string]any{"member": discord.UserOption(ada)}
	if r := w.chat.Command(t, guildID, discord.Use{UserID: bo, Command: "rank", Options: of}); !strings.Contains(r.Content, "has no rank yet") || r.Picture != nil {
		t.Errorf("/rank of somebody hidden is %+v", r.Content)
	}
	w.chat.SetRoles(guildID, ada, regular)
	w.waitFor("who lost the role is shown", bo+" 100 0, "+ada+" 100 0", w.board)
	w.chat.SetRoles(guildID, cy, regular, staff)
	w.chat.SetRoles(guildID, cy, regular)
	w.front.set(func() { w.front.loses, w.front.lose = "/hidden", 1 }) // a flag whose answer is lost is the bot's, too
	w.chat.SetRoles(guildID, bo, regular, staff)
	w.waitFor("who got the role is hidden", ada+" 100 0", w.board)
	stop()
	w.start() // the role is no longer in the setting; cy was hidden by a manager
	w.waitFor("whom the bot hid is shown", bo+" 100 0, "+ada+" 100 0", w.board)

	for _, want := range []string{"self", ""} {
		w.chat.Command(t, guildID, discord.Use{UserID: ada, Command: "hide"})
		list := apitest.JSON[map[string]any](t, w.call("GET", "/v2/guilds/"+guildID+"/members/"+ada, nil))["hidden"].([]any)
		if got := len(list); got != len(want)/4 {
			t.Errorf("after /hide ada is hidden by %v, want %q", list, want)
		}
	}
}

// TestHidingIsFinished: a bot that ended before Levelboard took a flag sets it at the next start.
func TestHidingIsFinished(t *testing.T) {
	g := gophers(ada, bo)
	w := newWorld(t, g)
	w.makeGuild()
	w.setXP(ada, 100)
	w.setXP(bo, 100)
	w.front.set(func() { w.front.refuses = "/hidden" })
	stop := w.start("LEVELBOARD_BOT_HIDE_ROLES=" + staff)
	w.chat.WaitForCommands(t)
	w.chat.SetRoles(guildID, ada, staff)
	w.waitForLog("the guild is not yet up to date in Levelboard or in Discord")
	stop()
	w.front.set(func() { w.front.refuses = "" })
	w.start("LEVELBOARD_BOT_HIDE_ROLES=" + staff)
	w.waitFor("who has the role is hidden", bo+" 100 0", w.board)
}
