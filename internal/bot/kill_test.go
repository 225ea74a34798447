package bot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// child starts a bot in a process of its own.
func (w *world) child() *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(w.environ(), "BOT_TEST_CHILD=1", "GOMEMLIMIT="+os.Getenv("GOMEMLIMIT"))
	cmd.Stderr = w.log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// TestKilled kills the bot at any moment, while answers are lost: no message counts twice, and none is lost that came more than 1.5 seconds before.
func TestKilled(t *testing.T) {
	testenv.Long(t)
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	said, mayBeLost := 0, 0
	for round := range 4 {
		bot := w.child()
		w.chat.Wait(t, "the bot", w.chat.Connected)
		w.front.set(func() { w.front.lose = round % 3 })
		recent := []time.Time{}
		for end := time.Now().Add(2*time.Second + rand.N(2*time.Second)); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			w.chat.Say(guildID, general, ada)
			recent = append(recent, time.Now())
		}
		_ = bot.Process.Kill()
		_ = bot.Wait()
		w.disconnected()
		for _, at := range recent {
			if said++; time.Since(at) < 1600*time.Millisecond {
				mayBeLost++
			}
		}
	}
	bot := w.child()
	w.chat.Wait(t, "the bot", w.chat.Connected)
	w.chat.Say(guildID, general, ada)
	said++
	time.Sleep(100 * time.Millisecond) // the bot has it
	_ = bot.Process.Signal(syscall.SIGTERM)
	if err := bot.Wait(); err != nil {
		t.Errorf("the bot stopped with %v", err)
	}
	counted, _ := strconv.Atoi(regexp.MustCompile(`\d+$`).FindString(w.board()))
	if counted > said || counted < said-mayBeLost {
		t.Errorf("%d of %d messages counted; at most %d may be lost", counted, said, mayBeLost)
	}
	t.Logf("%d of %d messages counted; %d were in memory at a kill", counted, said, mayBeLost)
}

// TestLevelboardIsAwayForAMinute: a minute is 60 batches.
func TestLevelboardIsAwayForAMinute(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.makeGuild()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, ada)
	w.waitFor("a message", ada+" 100 1", w.board)
	w.front.set(func() { w.front.away = true })
	w.front.cut()
	for range 60 {
		for range 20 {
			w.chat.Say(guildID, general, ada)
		}
		time.Sleep(tick)
	}
	testenv.Wait(t, "the log says that messages wait", func() bool { return w.log.Has("messages wait in the queue") })
	w.front.set(func() { w.front.away = false })
	w.waitFor("the messages of a minute", ada+" 100 1201", w.board)
	w.setXP(ada, 150)
	w.chat.WaitForRoles(t, guildID, ada, regular, veteran)
}

// TestLargeGuild: 5,000 members at the start, of whom every second one has the wrong roles, and 100 have left.
func TestLargeGuild(t *testing.T) {
	testenv.Long(t)
	const members, wrong = 5000, 500
	g := gophers()
	id := func(n int) string { return fmt.Sprint(120000000000000000 + n) }
	for n := range members {
		g.Members[id(n)] = []string{regular}
		if n < wrong {
			g.Members[id(n)] = []string{veteran}
		}
	}
	w := newWorld(t, g)
	w.makeGuild()
	for from := 0; from < members+100; from += 1000 {
		var batch []any
		for n := from; n < min(from+1000, members+100); n++ {
			batch = append(batch, map[string]any{"userId": id(n), "xp": 100})
		}
		w.call("PUT", "/v2/guilds/"+guildID+"/members", map[string]any{"mode": "set", "members": batch}).Want(t, 200)
	}
	time.Sleep(time.Second) // the bot's events begin a second before it comes; these are not for it
	begun := time.Now()
	w.start()
	w.chat.WaitForCommands(t)
	w.chat.Say(guildID, general, id(members-1))
	w.waitFor("a message, though all members are compared meanwhile", id(members-1)+" 200 1", func() string { return strings.SplitN(w.board(), ",", 2)[0] })
	for _, n := range []int{0, wrong / 2, wrong - 1} {
		w.chat.WaitForRoles(t, guildID, id(n), regular)
	}
	w.waitFor("who has left", "404", func() string {
		return fmt.Sprint(w.call("GET", "/v2/guilds/"+guildID+"/members/"+id(members+99), nil).Status)
	})
	w.waitFor("who is there", "200", func() string {
		return fmt.Sprint(w.call("GET", "/v2/guilds/"+guildID+"/members/"+id(members-1), nil).Status)
	})
	t.Logf("alike after %v, with the requests %v", time.Since(begun).Round(time.Second), w.chat.Requests())
}
