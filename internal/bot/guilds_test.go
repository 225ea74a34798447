package bot_test

import (
	"fmt"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/service"
)

func TestGuildsAreSetUp(t *testing.T) {
	g := gophers(ada, bo)
	g.Members[ada] = []string{admins}
	w := newWorld(t, g)
	stop := w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, bo)
	about := func() string {
		d := w.document()
		return fmt.Sprint(d["name"], " ", d["memberCount"], " ", d["ownerId"], " ", d["adminIds"])
	}
	w.waitFor("the guild", "Gophers of Discord 4 "+owner+" ["+ada+"]", about)
	w.waitFor("the message", "1", func() string {
		return fmt.Sprint(len(apitest.JSON[map[string]any](t, w.call("GET", "/v2/levels/"+guildID+"?page=1", nil))["levels"].([]any)))
	})
	key := w.botKey()

	w.configure(nil) // a manager's settings stay
	w.chat.Join(guildID, cy, admins)
	w.chat.Rename(guildID, regular, "Champion")
	w.waitFor("a new administrator", "Gophers of Discord 5 "+owner+" ["+ada+" "+cy+"]", about)
	w.waitFor("a role's name", "Champion", func() string {
		return w.document()["roleRewards"].([]any)[0].(map[string]any)["roles"].([]any)[0].(map[string]any)["name"].(string)
	})
	w.chat.Transfer(guildID, bo)
	w.waitFor("a new owner", "Gophers of Discord 5 "+bo+" ["+ada+" "+cy+"]", about)
	w.waitFor("a key of the new owner's", bo, func() string { _, owner := w.theKey(); return owner })
	if now := w.botKey(); now == key {
		t.Error("the key is still the earlier owner's")
	}
	w.admin("DELETE", "/admin/keys/"+w.botKey(), nil)
	w.chat.Say(guildID, general, cy)
	w.waitFor("a message after the key was revoked", "2", func() string { return fmt.Sprint(len(w.board())/len(ada+" 100 1, ") + 1) })

	w.admin("DELETE", "/admin/guilds/"+guildID, nil)
	w.key = ""
	w.chat.Say(guildID, general, ada)
	w.waitFor("the guild, made again", "Gophers of Discord 5 "+bo+" ["+ada+" "+cy+"]", about)
	w.chat.Transfer(guildID, cy)
	w.waitFor("an owner who is an administrator", "Gophers of Discord 5 "+cy+" ["+ada+"]", about)
	stop()
}

// theKey is the bot's key for the guild, and its owner.
func (w *world) theKey() (id, owner string) {
	type list struct {
		Keys []struct {
			ID, Name, OwnerID string
			RateLimit         int
			GuildIDs          []string
		}
	}
	answer := w.api.Do("GET", "/admin/keys", "", nil, apitest.AdminToken(service.AdminToken))
	for _, key := range apitest.JSON[list](w.t, answer).Keys {
		if key.Name == "levelboard-bot" {
			if id != "" {
				return "", "two keys"
			}
			id, owner = key.ID, key.OwnerID
			if key.RateLimit != 600 || len(key.GuildIDs) != 1 {
				w.t.Errorf("the key is %+v", key)
			}
		}
	}
	return id, owner
}

func (w *world) botKey() string {
	id, _ := w.theKey()
	return id
}
