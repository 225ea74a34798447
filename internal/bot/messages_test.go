package bot_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/testenv"
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
		if calls := w.front.calls["/v2/guilds/"+guildID+"/messages"]; calls > 10 {
			t.Errorf("%d calls for 200 messages", calls)
		}
	})
}

func TestThreadsHaveTheirChannelAsParent(t *testing.T) {
	g := gophers(ada, bo, cy)
	const archived = "400000000000000004"
	g.Channels = append(g.Channels, discord.Channel{ID: archived, Name: "an old thread", ParentID: news, Type: 11, Archived: true})
	w := newWorld(t, g)
	w.configure(map[string]any{"ignoredChannelIds": []string{news}})
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, thread, ada) // its parent is ignored
	w.chat.Say(guildID, archived, cy)
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

func TestSessionsAreResumed(t *testing.T) {
	w := newWorld(t, gophers(ada, bo))
	w.makeGuild()
	w.setXP(bo, 100)
	w.start()
	w.chat.WaitForCommands(t)
	begun := time.Now()
	for n := range 9 {
		if n == 8 {
			w.chat.Move() // the connection for resuming fails, the session is there
		}
		w.chat.Cut()
		w.chat.Say(guildID, general, ada) // while the connection is down
		w.waitFor("a message after the session was resumed", fmt.Sprintf("%s 100 0, %s 100 %d", bo, ada, n+1), w.board)
	}
	if n, took := w.chat.Begun(), time.Since(begun); n != 1 || took > 45*time.Second {
		t.Errorf("%d sessions were begun, nine times one was resumed in %v; a pause that grows with each takes 51 s", n, took)
	}
}

// TestShards: each guild is of one of two sessions, which begin one after the other, and are resumed or lost each by itself.
func TestShards(t *testing.T) {
	other := gophers(ada)
	other.ID, other.Channels = "200000000004194305", []discord.Channel{{ID: "400000000000000009", Name: "general"}}
	w := newWorld(t, gophers(ada, bo), other)
	w.makeGuild()
	w.chat.Shard(2)
	w.start()
	w.chat.Wait(t, "both shards", w.chat.Connected)
	both := func(messages int) {
		t.Helper()
		w.chat.Say(guildID, general, ada)
		w.chat.Say(other.ID, "400000000000000009", ada)
		w.waitFor("the one guild", fmt.Sprintf("%s 100 %d", ada, messages), w.board)
		w.waitFor("the other guild", "true", func() string {
			answer := w.api.Do("GET", "/v2/levels/"+other.ID+"?page=1", "", nil)
			return fmt.Sprint(strings.Contains(string(answer.Body), fmt.Sprintf(`"messageCount":%d`, messages)))
		})
	}
	both(1)
	w.chat.Cut()
	both(2)
	w.chat.LoseSessions(nil)
	w.chat.Wait(t, "both shards again", w.chat.Connected)
	both(3)
	if _, times := w.chat.WaitForCommands(t); times != 1 || w.chat.Begun() != 4 {
		t.Errorf("the commands were registered %d times, %d sessions were begun", times, w.chat.Begun())
	}
}

// TestTheQueueIsBounded: while Levelboard is away for too long the oldest messages go, with a warning and a metric.
func TestTheQueueIsBounded(t *testing.T) {
	w := newWorld(t, gophers(ada, bo, cy))
	w.makeGuild()
	w.queue = 50
	address := testenv.FreeAddr(t)
	w.start("LEVELBOARD_OPS_LISTEN=" + address)
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.front.set(func() { w.front.away = true })
	w.chat.Say(guildID, general, ada)
	w.waitForLog("messages wait in the queue") // the first one is in doubt now, and stays
	for range 30 {
		w.chat.Say(guildID, general, bo)
	}
	for range 50 {
		w.chat.Say(guildID, general, cy)
	}
	w.waitForLog("the oldest messages were dropped")
	defer http.DefaultClient.CloseIdleConnections()
	metrics, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Body.Close()
	text, err := io.ReadAll(metrics.Body)
	if err != nil || !regexp.MustCompile(`levelboard_bot_messages_total\{outcome="dropped"\} [1-9]`).Match(text) {
		t.Errorf("the metric does not say that messages were dropped (%v)", err)
	}
	w.front.set(func() { w.front.away = false })
	w.waitFor("the newest messages, and the one in doubt", cy+" 100 49, "+ada+" 100 2", func() string {
		return strings.Replace(w.board(), cy+" 100 50", cy+" 100 49", 1) // the one in doubt may be among the 50 or not
	})
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
