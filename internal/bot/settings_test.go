package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/bot"
	"levelboard/internal/testing/discord"
)

func TestSettingsNameAllMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    []string
	}{
		"nothing":   {nil, []string{"DISCORD_TOKEN is missing", "LEVELBOARD_ADMIN_TOKEN or LEVELBOARD_KEY is missing"}},
		"both":      {[]string{"DISCORD_TOKEN=t", "LEVELBOARD_ADMIN_TOKEN=a", "LEVELBOARD_KEY=k"}, []string{"are both set"}},
		"words":     {[]string{"DISCORD_TOKEN=t", "LEVELBOARD_KEY=k", "LEVELBOARD_BOT_ANNOUNCE=there", "LEVELBOARD_LOG_FORMAT=xml"}, []string{`not "there"`, `not "xml"`}},
		"a level":   {[]string{"DISCORD_TOKEN=t", "LEVELBOARD_KEY=k", "LEVELBOARD_LOG_LEVEL=loud"}, []string{"LEVELBOARD_LOG_LEVEL must be"}},
		"addresses": {[]string{"DISCORD_TOKEN=t", "LEVELBOARD_KEY=k", "LEVELBOARD_URL=here", "LEVELBOARD_BOT_DISCORD_URL=ftp://x"}, []string{"LEVELBOARD_URL must be", "LEVELBOARD_BOT_DISCORD_URL must be"}},
		"a name":    {[]string{"DISCORD_TOKEN=t", "LEVELBOARD_KEY=k", "LEVELBOARD_BOT_ANOUNCE=off"}, []string{"LEVELBOARD_BOT_ANOUNCE is not a setting"}},
		"a file":    {[]string{"DISCORD_TOKEN_FILE=/nowhere/at/all", "LEVELBOARD_KEY=k"}, []string{"DISCORD_TOKEN_FILE cannot be read"}},
	} {
		_, err := bot.Load(c.environ)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := bot.Load([]string{"DISCORD_TOKEN_FILE=" + secret, "LEVELBOARD_KEY=k", "LEVELBOARD_URL=http://levels:8080/", "LEVELBOARD_BOT_HIDE_ROLES=Staff, Mods"})
	if err != nil || s.Token != "t" || s.PublicURL != "http://levels:8080" || s.HideRoles[1] != "Mods" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTheBotSaysHowToRunIt(t *testing.T) {
	var said strings.Builder
	if code := bot.Main([]string{"--help"}, nil, "test", &said); code != 2 || !strings.HasPrefix(said.String(), "usage: levelboard-bot, with its settings in the environment") {
		t.Errorf("exit code %d, %q", code, &said)
	}
}

func TestTheBotEndsWithASentence(t *testing.T) {
	chat := discord.Start(t, gophers())
	data := t.TempDir()
	run := func(environ ...string) error {
		settings, err := bot.Load(append([]string{
			"DISCORD_TOKEN=" + discord.Token, "LEVELBOARD_KEY=k", "LEVELBOARD_BOT_DISCORD_URL=" + chat.URL, "LEVELBOARD_BOT_DATA=" + data, "LEVELBOARD_OPS_LISTEN=127.0.0.1:0",
		}, environ...))
		if err != nil {
			t.Fatal(err)
		}
		return bot.Run(t.Context(), settings, "test", t.Output())
	}
	ends := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it ended with %v, want %q", err, want)
		}
	}
	ends(run("DISCORD_TOKEN=wrong"), "Reset Token")
	for code, want := range map[int]string{
		4004: "Reset Token", 4010: "needs more shards: start it again", 4011: "needs more shards: start it again",
		4013: "switch on Server Members Intent", 4014: "switch on Server Members Intent",
	} {
		chat.Refuse(code)
		ends(run(), want)
	}

	sharded, ended := discord.Start(t, gophers()), make(chan error, 1)
	sharded.Shard(2)
	go func() { ended <- run("LEVELBOARD_BOT_DISCORD_URL=" + sharded.URL) }()
	sharded.Wait(t, "the first shard", func() bool { return !sharded.Alone() })
	sharded.Refuse(4011)
	ends(<-ended, "needs more shards: start it again") // the first one, too

	w := newWorld(t, gophers())
	w.start()
	w.chat.WaitForCommands(t)
	ends(run("LEVELBOARD_BOT_DATA="+w.data), "in use by another levelboard-bot")
}

func TestAWrongAdminTokenIsSaid(t *testing.T) {
	w := newWorld(t, gophers(ada))
	w.start("LEVELBOARD_ADMIN_TOKEN=another-token-of-enough-length-and-wrong")
	w.waitForLog("LEVELBOARD_ADMIN_TOKEN is not the token with which the service runs")
}
