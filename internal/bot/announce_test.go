package bot_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/testenv"
)

func TestWinnersAreAnnouncedOnce(t *testing.T) {
	for text, want := range map[any]string{nil: "Autumn is over", "{period} was won by {first}": "Autumn was won by user-" + ada} {
		t.Run(want, func(t *testing.T) { winnersAreAnnounced(t, text, want) })
	}
}

// autumn gives the guild a season, which is over or not.
func (w *world) autumn(over bool, text any) {
	w.t.Helper()
	today, zone := time.Now().UTC().Add(-12*time.Hour), "Etc/GMT+12"
	if over {
		zone = "Etc/GMT-14" // where it is tomorrow
	}
	w.configure(map[string]any{"timeZone": zone, "seasons": []any{map[string]any{
		"id": "autumn", "name": "Autumn", "start": today.AddDate(0, 0, -3).Format(time.DateOnly), "end": today.AddDate(0, 0, 1).Format(time.DateOnly),
	}}, "announcements": []any{map[string]any{"name": "winners", "kind": "bot", "events": []string{"period"}, "text": text}}})
}

func winnersAreAnnounced(t *testing.T, text any, want string) {
	w := newWorld(t, gophers(ada, bo))
	w.autumn(false, text)
	stop := w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.autumn(true, text)
	post := w.chat.WaitForPost(t, want)
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
		if strings.Contains(p.Content, want) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the winners were announced %d times", n)
	}
}

func TestLevelUpsAreAnnouncedWhereTheyHappen(t *testing.T) {
	w := newWorld(t, gophers(ada, bo, cy))
	w.makeGuild()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, news, ada)
	if post := w.chat.WaitForPost(t, "<@"+ada+"> has reached level 1"); post.ChannelID != news || len(post.Mentions) != 1 || post.Mentions[0] != ada {
		t.Errorf("the level-up was announced as %+v", post)
	}
	const posts = "POST /api/v10/channels/{channel}/messages"
	w.chat.Limit(posts, 2)
	w.chat.Say(guildID, general, cy)
	w.chat.WaitForPost(t, "<@"+cy+"> has reached level 1")
	if n := w.chat.Requests()[posts]; n != 4 {
		t.Errorf("two announcements took %d requests, two of which were answered with 429", n)
	}
	w.setXP(bo, 100) // silent
	w.chat.WaitForRoles(t, guildID, bo, regular)
	if posts := w.chat.Posts(); len(posts) != 2 {
		t.Errorf("the bot wrote %+v", posts)
	}
}

// TestAnnouncementsOfTheGuild: the first announcement of the kind bot has the words, as they are in the guild's document now; one of the kind
// discord that is on silences the default text.
func TestAnnouncementsOfTheGuild(t *testing.T) {
	var members []string
	for n := range 50 {
		members = append(members, fmt.Sprint(110000000000000000+n))
	}
	w := newWorld(t, gophers(members...))
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	taken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer taken.Close()
	announce := func(announcements ...any) {
		t.Helper()
		w.admin("PATCH", "/admin/guilds/"+guildID, map[string]any{"announcements": append([]any{}, announcements...)})
	}
	ofBot := func(text string) any {
		return map[string]any{"name": "bot", "kind": "bot", "events": []string{"levelup"}, "text": text}
	}
	ofDiscord := func(at *httptest.Server) any {
		return map[string]any{"name": "discord", "kind": "discord", "url": at.URL, "events": []string{"levelup"}}
	}
	spoken := 0 // members
	// said lets members reach level 1, one after the other, until the bot announces one in these words.
	said := func(words string) {
		t.Helper()
		before := len(w.chat.Posts())
		testenv.Wait(t, words, func() bool {
			w.chat.Say(guildID, general, members[spoken])
			spoken++
			time.Sleep(5 * tick) // it is read again after ten
			return slices.ContainsFunc(w.chat.Posts()[before:], func(p discord.Post) bool { return strings.HasSuffix(p.Content, words) })
		}, func() string { return fmt.Sprint(w.chat.Posts()) })
	}
	w.makeGuild()
	announce(ofBot("{name} is level {level} now"), ofBot("never"))
	w.start()
	w.chat.WaitForCommands(t)
	said(" is level 1 now")
	announce(ofBot("{name} writes"), ofDiscord(taken))
	said(" writes")

	// decided waits until the bot has read what is on for each level-up so far.
	decided := func() {
		t.Helper()
		w.waitFor("the bot has read what is on", "true", func() (all string) {
			w.front.set(func() { all = fmt.Sprint(w.front.calls["/admin/guilds/"+guildID+"/announcements"] >= spoken) })
			return all
		})
	}
	decided()
	announce(ofDiscord(taken))
	time.Sleep(10 * tick)
	before, silent := len(w.chat.Posts()), members[spoken]
	w.chat.Say(guildID, general, silent)
	spoken++
	decided()
	w.chat.WaitForRoles(t, guildID, silent, regular)
	announce()
	said("has reached level 1! New: Regular.")
	if posts := w.chat.Posts()[before:]; strings.Contains(posts[0].Content, silent) {
		t.Errorf("the bot announced what a webhook does: %+v", posts)
	}
	announce(ofDiscord(gone)) // it is switched off by the first answer
	said("has reached level 1! New: Regular.")
}

func TestOffAnnouncesNothing(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.autumn(false, nil)
	stop := w.start("LEVELBOARD_BOT_ANNOUNCE=off")
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.chat.WaitForRoles(t, guildID, ada, regular)
	w.autumn(true, nil)
	w.waitFor("the season's first", ada, func() string {
		type periods struct {
			Periods []struct{ Winners []struct{ UserID string } }
		}
		winner := ""
		for _, p := range apitest.JSON[periods](t, w.call("GET", "/v2/levels/"+guildID+"/periods?page=1", nil)).Periods {
			for _, first := range p.Winners {
				winner = first.UserID
			}
		}
		return winner
	})
	w.setXP(bo, 100) // this event comes after the one of the season
	w.chat.WaitForRoles(t, guildID, bo, regular)
	stop()
	if posts := w.chat.Posts(); len(posts) > 0 {
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
