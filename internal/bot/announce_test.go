package bot_test

import (
	"strings"
	"testing"
	"time"
)

func TestWinnersAreAnnouncedOnce(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	today := time.Now().UTC().Add(-12 * time.Hour)
	season := map[string]any{
		"id": "autumn", "name": "Autumn", "start": today.AddDate(0, 0, -3).Format(time.DateOnly), "end": today.AddDate(0, 0, 1).Format(time.DateOnly),
	}
	w.configure(map[string]any{"timeZone": "Etc/GMT+12", "seasons": []any{season}})
	stop := w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.configure(map[string]any{"timeZone": "Etc/GMT-14", "seasons": []any{season}}) // where it is tomorrow
	post := w.chat.WaitForPost(t, "Autumn is over")
	if post.ChannelID != general || !strings.Contains(post.Content, "user-"+ada) || len(post.Mentions) > 0 {
		t.Errorf("the winners were announced as %+v", post)
	}
	stop()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, bo)
	w.waitFor("a message after the restart", bo+" 100 1, "+ada+" 100 1", w.board)
	n := 0
	for _, p := range w.chat.Posts() {
		if strings.Contains(p.Content, "Autumn is over") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the winners were announced %d times", n)
	}
}

func TestLevelUpsAreAnnouncedWhereTheyHappen(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.makeGuild()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, news, ada)
	if post := w.chat.WaitForPost(t, "<@"+ada+"> has reached level 1"); post.ChannelID != news || len(post.Mentions) != 1 || post.Mentions[0] != ada {
		t.Errorf("the level-up was announced as %+v", post)
	}
	w.setXP(bo, 100) // silent
	w.chat.WaitForRoles(t, guildID, bo, regular)
	if posts := w.chat.Posts(); len(posts) != 1 {
		t.Errorf("the bot wrote %+v", posts)
	}
}

func TestAChannelIsForItsGuild(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	w.start("LEVELBOARD_BOT_ANNOUNCE=" + news)
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	if post := w.chat.WaitForPost(t, "<@"+ada+"> has reached level 1"); post.ChannelID != news || len(post.Mentions) != 1 || !strings.Contains(post.Content, "Regular") {
		t.Errorf("the level-up was announced as %+v", post)
	}
}
