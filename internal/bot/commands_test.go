package bot_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/discord"
)

func TestCommands(t *testing.T) {
	members := []string{ada, bo, cy}
	for n := range 14 {
		members = append(members, fmt.Sprint(110000000000000000+n))
	}
	w := newWorld(t, gophers(members...))
	w.configure(map[string]any{"periods": []string{"week"}})
	for n, id := range members {
		if id != cy {
			w.setXP(id, 1000-n)
		}
	}
	w.start()
	names, _ := w.chat.WaitForCommands(t)
	if got := strings.Join(names, " "); got != "rank leaderboard xp hide levels" {
		t.Errorf("the commands are %s", got)
	}
	ask := func(use discord.Use) discord.Reply {
		t.Helper()
		if use.UserID == "" {
			use.UserID = ada
		}
		return w.chat.Command(t, guildID, use)
	}
	contains := func(r discord.Reply, text string, private bool) {
		t.Helper()
		if !strings.Contains(r.Content, text) || r.Private != private {
			t.Errorf("the reply is %q (private: %t), want %q (private: %t)", r.Content, r.Private, text, private)
		}
	}
	ready := func() string {
		return fmt.Sprint(strings.Contains(ask(discord.Use{Command: "levels"}).Content, "still connecting"))
	}
	w.waitFor("the guild's key", "false", ready)

	rank := ask(discord.Use{Command: "rank"})
	contains(rank, "<@"+ada+"> is #1 of 16: level ", false)
	if !bytes.HasPrefix(rank.Picture, []byte("\x89PNG")) || !strings.Contains(rank.Alt, "#1 of 16") {
		t.Errorf("/rank shows a picture of %d bytes that says %q", len(rank.Picture), rank.Alt)
	}
	contains(ask(discord.Use{Command: "rank", Options: map[string]any{"member": discord.UserOption(bo)}}), "<@"+bo+"> is #2", false)
	contains(ask(discord.Use{Command: "rank", UserID: cy}), "has no rank yet", false)

	board := ask(discord.Use{Command: "leaderboard"})
	contains(board, "1. <@"+ada+"> level ", false)
	if len(board.Buttons) != 1 || strings.Contains(board.Content, "11. ") {
		t.Fatalf("the board has the buttons %q: %s", board.Buttons, board.Content)
	}
	next := ask(discord.Use{Button: board.Buttons[0]})
	contains(next, "11. <@", false)
	if len(next.Buttons) != 1 || strings.Contains(next.Content, "10. ") {
		t.Errorf("the second page has the buttons %q: %s", next.Buttons, next.Content)
	}
	contains(ask(discord.Use{Command: "leaderboard", Options: map[string]any{"period": "week"}}), "There is nobody here yet", false)
	contains(ask(discord.Use{Command: "leaderboard", Options: map[string]any{"period": "day"}}), "counts no day", true)
	contains(ask(discord.Use{Command: "levels"}), "/guilds/"+guildID+"/settings", true)

	give := discord.Use{Command: "xp", Sub: "give", Options: map[string]any{"member": discord.UserOption(ada), "amount": 50}}
	contains(ask(give), "Manage Server", true)
	give.Manages = true
	contains(ask(give), "has 1050 XP now", true)
	contains(ask(discord.Use{Command: "xp", Sub: "take", Manages: true, Options: map[string]any{"member": discord.UserOption(ada), "amount": 100}}), "has 950 XP now", true)
	contains(ask(discord.Use{Command: "xp", Sub: "set", Manages: true, Options: map[string]any{"member": discord.UserOption(cy), "amount": 77}}), "has 77 XP now", true)
	give.Options["amount"] = 0
	contains(ask(give), "must be a whole number from 1", true)
	audit := w.admin("GET", "/admin/guilds/"+guildID+"/audit", nil)
	if reason := apitest.At[string](t, audit, "records", 1, "reason"); reason != "/xp take by user-"+ada+" ("+ada+")" {
		t.Errorf("the audit log has %q", reason)
	}
	w.front.set(func() { w.front.away = true })
	contains(ask(discord.Use{Command: "rank"}), "Levelboard does not respond", true)
}

// TestALateAnswerIsSaid: Discord shows no answer that comes after three seconds, so the bot does not wait for it.
func TestALateAnswerIsSaid(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	w.answer = time.Second
	w.start()
	w.chat.WaitForCommands(t)
	w.waitFor("the bot's key", "true", func() string { return fmt.Sprint(w.botKey() != "") })
	w.front.set(func() { w.front.hangs = "/members/" + ada })
	w.waitFor("the reply", "Levelboard does not respond. Try again in a minute.", func() string {
		return w.chat.Command(t, guildID, discord.Use{UserID: ada, Command: "rank"}).Content
	})
}
