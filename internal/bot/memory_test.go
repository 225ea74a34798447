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
	"time"

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
		files, _ := filepath.Glob(filepath.Join(w.data, "guild-*.json"))
		answer, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		if len(files) < guilds {
			return fmt.Sprint(len(files), " guilds")
		}
		return fmt.Sprint(answer.StatusCode)
	})
	time.Sleep(20 * time.Second) // idle: what the start has used is collected
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", bot.Process.Pid))
	if err != nil {
		t.Skip("only where /proc tells a process's memory")
	}
	kb, _ := strconv.Atoi(regexp.MustCompile(`VmRSS:\s+(\d+)`).FindStringSubmatch(string(status))[1])
	t.Logf("%d KB in %d guilds", kb, guilds)
	if kb > mostKB {
		t.Errorf("the bot uses %d KB in %d guilds, more than %d", kb, guilds, mostKB)
	}
}
