package bot_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/testenv"
)

// TestTheReadmesCommands runs the README's three commands, from nothing to a bot that counts, in a directory of their own.
func TestTheReadmesCommands(t *testing.T) {
	testenv.Long(t)
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The Discord bot\n")
	_, commands, _ := strings.Cut(section, "\n```sh\n")
	commands, _, _ = strings.Cut(commands, "```")
	if n := strings.Count(commands, "\n"); n != 3 {
		t.Fatalf("the README has %d commands:\n%s", n, commands)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	chat, address, log := discord.Start(t, gophers(ada)), testenv.FreeAddr(t), &testenv.Log{}
	const made = `make() { [ "$*" = build ] && go build -C "$REPOSITORY" -o "$HERE" ./cmd/levelboard ./cmd/levelboard-bot; }; HERE=$PWD; `
	shell := exec.Command("bash", "-ec", made+strings.Replace(commands, "DISCORD_TOKEN=...", "DISCORD_TOKEN="+discord.Token, 1))
	shell.Dir, shell.Stdout, shell.Stderr, shell.SysProcAttr = t.TempDir(), log, log, &syscall.SysProcAttr{Setpgid: true}
	shell.Env = append(os.Environ(), "REPOSITORY="+here+"/../..", "LEVELBOARD_LISTEN="+address, "LEVELBOARD_URL=http://"+address,
		"LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_BOT_DISCORD_URL="+chat.URL)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGTERM)
		_ = shell.Wait() // until all that write to its output have ended
	})
	chat.Wait(t, "the bot", chat.Connected)
	chat.Say(guildID, general, ada)
	api := apitest.NewClient(t, "http://"+address)
	testenv.Wait(t, "the message counts", func() bool {
		return bytes.Contains(api.Do("GET", "/v2/levels/"+guildID+"?page=1", "", nil).Body, []byte(fmt.Sprintf(`"userId":"%s"`, ada)))
	}, func() string { return "it does not" })
}
