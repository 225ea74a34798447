package bot_test

import (
	"fmt"
	"testing"
	"time"
)

func TestMessagesAreCountedOnce(t *testing.T) {
	w := newWorld(t, gophers(ada, bo, cy))
	w.makeGuild()
	stop := w.start()
	w.chat.WaitForCommands(t)

	id := w.chat.Say(guildID, general, ada)
	w.chat.Deliver(guildID, general, ada, id, nil) // again
	w.chat.Deliver(guildID, general, bo, "900000000000000001", map[string]any{"webhook_id": "900000000000000002"})
	w.chat.Deliver(guildID, general, bo, "900000000000000003", map[string]any{"type": 7}) // Discord's own: bo joined
	w.waitFor("a message", ada+" 100 1", w.board)

	w.front.set(func() { w.front.lose = 2 })
	w.chat.Say(guildID, general, bo)
	w.waitFor("a message whose answer was lost twice", bo+" 100 1, "+ada+" 100 1", w.board)

	w.front.set(func() { w.front.away = true })
	for range 30 {
		w.chat.Say(guildID, general, cy)
	}
	stop() // while Levelboard is away
	w.front.set(func() { w.front.away = false })
	w.start()
	w.waitFor("messages of before the restart", cy+" 100 30, "+bo+" 100 1, "+ada+" 100 1", w.board)
	w.chat.Deliver(guildID, general, ada, id, nil) // after a restart, too
	w.chat.Say(guildID, general, bo)
	w.waitFor("a message after the restart", cy+" 100 30, "+bo+" 100 2, "+ada+" 100 1", w.board)
}

func TestMessagesAreSentInBatches(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	w.start()
	w.chat.WaitForCommands(t)
	for range 200 {
		w.chat.Say(guildID, general, ada)
	}
	w.waitFor("200 messages", ada+" 100 200", w.board)
	w.front.set(func() {
		if w.front.posts > 10 {
			t.Errorf("%d calls for 200 messages", w.front.posts)
		}
	})
}

func TestThreadsHaveTheirChannelAsParent(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.configure(map[string]any{"ignoredChannelIds": []string{news}})
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, thread, ada) // its parent is ignored
	w.chat.Say(guildID, general, bo)
	w.waitFor("messages", bo+" 100 1", w.board)
}

func TestStopSendsWhatIsQueued(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	stop := w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.chat.Say(guildID, general, ada)
	time.Sleep(100 * time.Millisecond) // the bot has it, and has not sent it
	stop()
	if got, want := w.board(), ada+" 100 2"; got != want {
		t.Errorf("after the stop the board is %q, want %q", got, want)
	}
}

func TestSessionsAreResumedAndLost(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.makeGuild()
	w.setXP(bo, 100)
	w.start()
	w.chat.WaitForCommands(t)
	for n := range 2 {
		w.chat.Cut()
		w.chat.Say(guildID, general, ada) // while the connection is down
		w.waitFor("a message after the session was resumed", fmt.Sprintf("%s 100 0, %s 100 %d", bo, ada, n+1), w.board)
	}
}

func TestMissedEventsAreCaughtUp(t *testing.T) {
	g := gophers(ada, bo, cy)
	w := newWorld(t, g)
	w.makeGuild()
	for _, user := range []string{ada, bo} {
		w.setXP(user, 100)
	}
	w.start()
	w.chat.WaitForRoles(t, guildID, ada, regular)
	w.chat.WaitForRoles(t, guildID, bo, regular)
	w.chat.LoseSessions(func() {
		delete(g.Members, bo)
		g.Members[ada] = []string{staff}
		g.Members[cy] = []string{regular, staff}
	})
	w.chat.WaitForRoles(t, guildID, ada, regular, staff)
	w.chat.WaitForRoles(t, guildID, cy, staff) // who has no XP has no reward
	w.waitFor("who left unseen", ada+" 100 0", w.board)
	w.chat.Join(guildID, bo)
	w.waitFor("who came back", bo+" 100 0, "+ada+" 100 0", w.board)
	w.chat.WaitForRoles(t, guildID, bo, regular)
}
