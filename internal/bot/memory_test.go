package bot_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/testenv"
)

// TestIdleMemory: the bot's own binary, in 100 guilds with 200 members and 50 channels each, uses less than 40 MB.
func TestIdleMemory(t *testing.T) {
	testenv.Long(t)
	const guilds, mostKB = 100, 40_000
	var all []*discord.Guild
	for n := range guilds {
		g := gophers()
		g.ID = fmt.Sprint(210000000000000000 + n)
		for m := range 200 {
			g.Members[fmt.Sprint(120000000000000000+n*1000+m)] = nil
		}
		g.Channels = g.Channels[:0]
		for c := range 50 {
			g.Channels = append(g.Channels, discord.Channel{ID: fmt.Sprint(410000000000000000 + n*1000 + c), Name: "channel"})
		}
		all = append(all, g)
	}
	w := newWorld(t, all...)
	binary := filepath.Join(t.TempDir(), "levelboard-bot")
	if out, err := exec.Command("go", "build", "-o", binary, "levelboard/cmd/levelboard-bot").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := testenv.FreeAddr(t)
	bot := exec.Command(binary)
	bot.Env, bot.Stderr = w.environ("LEVELBOARD_OPS_LISTEN="+address), w.log
	if err := bot.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bot.Process.Kill(); _ = bot.Wait() })
	defer http.DefaultClient.CloseIdleConnections()
	w.waitFor("all guilds", "200", func() string {
		answer, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		if listed := w.chat.Requests()["GET /api/v10/guilds/{guild}/members"]; listed < guilds {
			return fmt.Sprint(listed, " guilds")
		}
		return fmt.Sprint(answer.StatusCode)
	})
	status := fmt.Sprintf("/proc/%d/status", bot.Process.Pid)
	if _, err := os.Stat(status); err != nil {
		t.Skip("only where /proc tells a process's memory")
	}
	kb := mostKB + 1
	testenv.Wait(t, fmt.Sprintf("the bot uses at most %d KB in %d guilds", mostKB, guilds), func() bool { // once what the start has used is collected
		text, _ := os.ReadFile(status)
		if found := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(text); found != nil {
			kb, _ = strconv.Atoi(string(found[1]))
		}
		return kb <= mostKB
	}, func() string { return fmt.Sprint(kb, " KB") })
	t.Logf("%d KB in %d guilds", kb, guilds)
}
