package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/discord"
)

const (
	ada, bo, cy, dee = "100000000000000002", "100000000000000003", "100000000000000004", "100000000000000005"
	regular, veteran = "300000000000000001", "300000000000000002"

	guildID, channelID = "200000000000000001", "400000000000000001"
)

// TestBot runs the unchanged bot of docs/examples between a Discord and a service that loses answers and cuts streams.
func TestBot(t *testing.T) {
	run(t, filepath.Join("bots", "discord.js"), []string{"node", "--import", "./proxy.mjs", "bot.js"})
}

func run(t *testing.T, dir string, command []string) {
	board := newBoard(t)
	board.must("POST", "/v2/levels/"+guildID+"/users/"+bo, `{"xp":150,"user":{"username":"bo","globalName":null,"discriminator":"0","avatar":null}}`)
	board.must("POST", "/v2/levels/"+guildID+"/users/"+cy, `{"xp":150,"user":{"username":"cy","globalName":null,"discriminator":"0","avatar":null}}`)
	board.must("PUT", "/v2/guilds/"+guildID+"/presence", `{"present":false,"userIds":["`+bo+`"]}`)
	guild := &discord.Guild{
		ID: guildID, Name: "Gophers of Discord", OwnerID: "100000000000000001", SystemChannelID: channelID,
		Roles:    []discord.Role{{ID: regular, Name: "role 1"}, {ID: veteran, Name: "role 2"}},
		Channels: []discord.Channel{{ID: channelID, Name: "general"}}, Members: map[string][]string{ada: nil, bo: nil, dee: nil},
	}
	chat := discord.Start(t, guild)
	bot := startBot(t, dir, command, board, chat)

	if names, _ := chat.WaitForCommands(t); !slices.Equal(slices.Sorted(slices.Values(names)), []string{"leaderboard", "rank"}) {
		t.Errorf("the bot's commands are %q, want leaderboard and rank", names)
	}
	chat.WaitForRoles(t, guildID, bo, regular, veteran) // from before the bot's start
	board.waitFor("who had left, and who was back before", ranks, "1 "+bo+" 150 0")

	board.faults.loseAnswer()
	chat.Say(guildID, channelID, ada)
	chat.WaitForRoles(t, guildID, ada, regular)
	board.waitFor("a message, once, though its answer was lost", ranks, "1 "+bo+" 150 0, 2 "+ada+" 100 1")
	board.faults.reject()
	chat.Say(guildID, channelID, bo)
	board.waitFor("a message that was rejected at first", ranks, "1 "+bo+" 250 1, 2 "+ada+" 100 1")

	board.faults.cutStreams()
	board.must("PATCH", "/v2/levels/"+guildID+"/users/"+ada, `{"xp":{"increment":60}}`)
	chat.WaitForRoles(t, guildID, ada, regular, veteran)
	board.must("PATCH", "/v2/levels/"+guildID+"/users/"+ada, `{"xp":{"decrement":30}}`)
	chat.WaitForRoles(t, guildID, ada, regular)

	chat.Rename(guildID, regular, "Champion")
	board.waitFor("a role's new name", func(b *guildBoard) string {
		return b.must("GET", "/admin/guilds/"+guildID, "")["roleRewards"].([]any)[0].(map[string]any)["roles"].([]any)[0].(map[string]any)["name"].(string)
	}, "Champion")
	board.faults.cutAnswer()
	chat.Say(guildID, channelID, bo)
	chat.Leave(guildID, bo)
	board.waitFor("a member who left while an answer was cut off", ranks, "1 "+ada+" 130 1")
	chat.Join(guildID, bo)
	board.waitFor("a member who came back", ranks, "1 "+bo+" 250 2, 2 "+ada+" 130 1")
	chat.WaitForRoles(t, guildID, bo, regular, veteran)

	ask := func(command string, options map[string]any) discord.Reply {
		t.Helper()
		return chat.Command(t, guildID, discord.Use{UserID: ada, Command: command, Options: options})
	}
	if reply := ask("rank", map[string]any{"member": discord.UserOption(bo)}); !bytes.HasPrefix(reply.Picture, []byte("\x89PNG")) {
		t.Errorf("/rank shows %q and a file of %d bytes, want a card", reply.Content, len(reply.Picture))
	}
	if reply := ask("rank", map[string]any{"member": discord.UserOption(cy)}); len(reply.Picture) > 0 || reply.Content == "" {
		t.Errorf("/rank of an unknown member shows %q and a file of %d bytes, want a sentence", reply.Content, len(reply.Picture))
	}
	if reply := ask("leaderboard", map[string]any{"period": "season"}); !strings.HasPrefix(reply.Content, "1. <@"+ada+"> +130 XP\n2. <@"+bo+"> +100 XP") {
		t.Errorf("/leaderboard of the season shows %q, want ada before bo", reply.Content)
	}
	if reply := ask("leaderboard", nil); !strings.HasPrefix(reply.Content, "1. <@"+bo+"> level 2, 250 XP\n") {
		t.Errorf("/leaderboard shows %q, want bo first", reply.Content)
	}

	board.configure("Etc/GMT-14", 1) // a zone where it is tomorrow
	chat.WaitForRoles(t, guildID, ada, regular, veteran)
	board.waitFor("the guild's name, again after a reset", func(b *guildBoard) string {
		return b.must("GET", "/admin/guilds/"+guildID, "")["name"].(string)
	}, "Gophers of Discord")
	if post := chat.WaitForPost(t, "Autumn is over"); !strings.Contains(post.Content, "1. <@"+ada+"> +130 XP") {
		t.Errorf("the bot announced %q, want ada first", post.Content)
	}

	chat.LoseSessions(func() { delete(guild.Members, bo) })
	chat.WaitForCommands(t)
	ask("leaderboard", nil) // an answer shows that the bot has its new session
	board.must("PATCH", "/v2/levels/"+guildID+"/users/"+ada, `{"xp":{"decrement":100}}`)
	board.waitFor("a member who left while the bot was not connected", ranks, "1 "+ada+" 30 1")
	chat.Join(guildID, bo)
	board.must("PATCH", "/v2/levels/"+guildID+"/users/"+ada, `{"xp":{"increment":100}}`)
	board.waitFor("a member who came back again", ranks, "1 "+bo+" 250 2, 2 "+ada+" 130 1")
	cleared := board.must("POST", "/admin/guilds/"+guildID+"/reset", "")
	for _, member := range []string{ada, bo} {
		chat.WaitForRoles(t, guildID, member)
	}
	board.must("POST", "/admin/guilds/"+guildID+"/checkpoints/"+cleared["checkpoint"].(map[string]any)["id"].(string)+"/restore", "")
	for _, member := range []string{ada, bo} {
		chat.WaitForRoles(t, guildID, member, regular, veteran)
	}

	board.faults.reject()
	chat.Say(guildID, channelID, dee)
	board.waitFor("a message that waits for its repetition", func(b *guildBoard) string { return b.faults.rejected() }, "yes")
	if err := bot.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := bot.Wait(); err != nil {
		t.Errorf("the bot stopped with %v, want none", err)
	}
	board.waitFor("what happened just before the stop", ranks, "1 "+bo+" 250 2, 2 "+ada+" 130 1, 3 "+dee+" 100 1")
}

func startBot(t *testing.T, dir string, command []string, b *guildBoard, chat *discord.Server) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	bot := exec.CommandContext(ctx, command[0], command[1:]...)
	bot.Dir = dir
	var log bytes.Buffer
	bot.Stdout, bot.Stderr = &log, &log
	proxy, authority := startProxy(t, chat.URL)
	bot.Env = append(withoutSettings(), "DISCORD_TOKEN="+discord.Token, "LEVELBOARD_KEY="+b.key, "LEVELBOARD_URL="+b.front,
		"HTTPS_PROXY="+proxy, "NO_PROXY=127.0.0.1", "SSL_CERT_FILE="+authority, "NODE_EXTRA_CA_CERTS="+authority)
	if err := os.Remove(filepath.Join(dir, "levelboard-"+guildID+".json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := bot.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = bot.Wait()
		if t.Failed() {
			t.Logf("the bot's log:\n%s", &log)
		}
	})
	return bot
}

// guildBoard is a service with the guild, a key for the bot, and a front with faults.
type guildBoard struct {
	t               *testing.T
	url, front, key string // the key is the bot's
	own             string // the check's key
	faults          *faults
}

func newBoard(t *testing.T) *guildBoard {
	t.Helper()
	client := start(t, nil)
	b := &guildBoard{t: t, url: strings.TrimSuffix(client.ClientInterface.(*Client).Server, "/"), faults: &faults{}}
	b.configure("Etc/GMT+12", 2)
	b.key, b.own = b.newKey("100000000000000001", "null"), b.newKey("100000000000000098", "1500")
	to, _ := url.Parse(b.url)
	b.faults.service = httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(b.faults)
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	b.front = front.URL
	return b
}

// newKey creates a key of an owner, with a limit.
func (b *guildBoard) newKey(ownerID, limit string) string {
	b.t.Helper()
	return b.must("POST", "/admin/keys", `{"name":"key","ownerId":"`+ownerID+`","permission":"read_write","guildIds":["`+guildID+`"],"rateLimit":`+limit+`}`)["key"].(string)
}

// configure configures the guild with a time zone and with veterans from a level on. Its season ends today in the zone whose day begins last.
func (b *guildBoard) configure(zone string, veterans int) {
	today := time.Now().UTC().Add(-12 * time.Hour)
	guild := map[string]any{
		"name": "Gophers", "memberCount": 2, "ownerId": "100000000000000001", "timeZone": zone,
		"xpPerMessageMin": 100, "xpPerMessageMax": 100, "xpGainInterval": 86_400_000,
		"seasons": []any{map[string]any{
			"id": "autumn", "name": "Autumn", "start": today.AddDate(0, 0, -3).Format(time.DateOnly), "end": today.AddDate(0, 0, 1).Format(time.DateOnly),
		}},
		"roleRewards": []any{
			map[string]any{"level": 1, "roles": []any{map[string]any{"id": regular, "name": "Regular", "color": nil, "position": 1}}},
			map[string]any{"level": veterans, "roles": []any{map[string]any{"id": veteran, "name": "Veteran", "color": nil, "position": 2}}},
		},
	}
	document, _ := json.Marshal(guild)
	b.must("PUT", "/admin/guilds/"+guildID, string(document))
}

// must makes a call that must succeed, and returns the answer.
func (b *guildBoard) must(method, path, body string) (answer map[string]any) {
	b.t.Helper()
	r, _ := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/admin/") {
		r.Header.Set("Authorization", "Bearer "+adminToken)
	} else {
		r.Header.Set("X-Api-Key", b.own)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer got.Body.Close()
	text, _ := io.ReadAll(got.Body)
	if got.StatusCode/100 != 2 || json.Unmarshal(text, &answer) != nil {
		b.t.Fatalf("%s %s: %d, want success: %s", method, path, got.StatusCode, text)
	}
	return answer
}

// waitFor waits until read returns want.
func (b *guildBoard) waitFor(what string, read func(*guildBoard) string, want string) {
	b.t.Helper()
	b.t.Log("waiting for: " + what)
	wait(b.t, func() string { return read(b) }, want)
}

// ranks returns rank, member, XP and messages of each row of the board.
func ranks(b *guildBoard) string {
	var page struct {
		Levels []struct {
			Rank, XP, MessageCount json.Number
			UserID                 string
		}
	}
	text, _ := json.Marshal(b.must("GET", "/v2/levels/"+guildID+"?page=1", ""))
	_ = json.Unmarshal(text, &page)
	var rows []string
	for _, row := range page.Levels {
		rows = append(rows, row.Rank.String()+" "+row.UserID+" "+row.XP.String()+" "+row.MessageCount.String())
	}
	return strings.Join(rows, ", ")
}
