// Command levelboard-bot keeps communities' levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and
// LEVELBOARD_URL if the service is elsewhere.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	discord "github.com/bwmarrin/discordgo"
)

var guilds sync.Map // by id

func main() {
	s, _ := discord.New("Bot " + os.Getenv("DISCORD_TOKEN"))
	s.Identify.Intents = discord.IntentsGuilds | discord.IntentsGuildMembers | discord.IntentsGuildMessages
	s.AddHandler(onEvent)
	if err := s.Open(); err != nil {
		log.Fatal(err)
	}
	_, err := s.ApplicationCommandBulkOverwrite(s.State.User.ID, "", commands)
	logged(err)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	for running := true; running; {
		select {
		case <-stop:
			running = false
		case <-time.After(time.Second):
		}
		for _, g := range guilds.Range {
			g.(*guild).handOver()
		}
	}
}

func onEvent(s *discord.Session, e *discord.Event) {
	switch e := e.Struct.(type) {
	case *discord.GuildCreate:
		find(s, e.ID).begin.Do(find(s, e.ID).follow)
	case *discord.GuildMemberAdd:
		find(s, e.GuildID).notePresence(e.User.ID, true)
	case *discord.GuildMemberRemove:
		find(s, e.GuildID).notePresence(e.User.ID, false)
	case *discord.MessageCreate:
		written := e.Type == discord.MessageTypeDefault || e.Type == discord.MessageTypeReply
		if written && e.Member != nil && !e.Author.Bot {
			find(s, e.GuildID).noteMessage(e.Message)
		}
	case *discord.InteractionCreate:
		if e.Type == discord.InteractionApplicationCommand && e.Member != nil {
			onCommand(s, e.Interaction)
		}
	}
}

func find(s *discord.Session, guildID string) *guild {
	g, _ := guilds.LoadOrStore(guildID, &guild{Session: s, id: guildID, present: map[string]bool{}})
	return g.(*guild)
}

func logged(err error) {
	if err != nil {
		log.Print(err)
	}
}

type (
	options = []*discord.ApplicationCommandOption
	choices = []*discord.ApplicationCommandOptionChoice
)

var commands = []*discord.ApplicationCommand{
	{Name: "rank", Description: "A member's level and rank", Options: options{
		{Name: "member", Description: "You, if left out", Type: discord.ApplicationCommandOptionUser},
	}},
	{Name: "leaderboard", Description: "The top ten", Options: options{
		{Name: "period", Description: "All time, if left out", Type: discord.ApplicationCommandOptionString, Choices: choices{
			{Name: "day", Value: "day"}, {Name: "week", Value: "week"},
			{Name: "month", Value: "month"}, {Name: "season", Value: "season"},
		}},
	}},
}

// onCommand answers in two steps: within the three seconds that Discord allows, and when Levelboard has answered.
func onCommand(s *discord.Session, i *discord.Interaction) {
	later := discord.InteractionResponseDeferredChannelMessageWithSource
	logged(s.InteractionRespond(i, &discord.InteractionResponse{Type: later}))
	command, path, option := i.ApplicationCommandData(), "/v2/levels/"+i.GuildID, ""
	if len(command.Options) > 0 {
		option, _ = command.Options[0].Value.(string)
	}
	reply := &discord.WebhookEdit{AllowedMentions: &discord.MessageAllowedMentions{}}
	text := "There is nothing to show yet."
	if command.Name == "leaderboard" {
		path += "?page=1"
		if option != "" {
			path += "&period=" + option
		}
		text = cmp.Or(ranking(call("GET", path, nil).Levels, 10), text)
	} else if card := call("GET", path+"/users/"+cmp.Or(option, i.Member.User.ID)+"/card.png", nil); card.ok {
		text = ""
		reply.Files = []*discord.File{{Name: "rank.png", ContentType: "image/png", Reader: bytes.NewReader(card.text)}}
	}
	reply.Content = &text
	_, err := s.InteractionResponseEdit(i, reply)
	logged(err)
}

// ranking shows the first of a board: what they gained in its period, or all that they have.
func ranking(members []answer, n int) (text string) {
	for _, m := range members[:min(n, len(members))] {
		if m.Gained > 0 {
			text += fmt.Sprintf("%d. <@%s> +%d XP\n", m.Rank, m.UserID, m.Gained)
		} else {
			text += fmt.Sprintf("%d. <@%s> level %d, %d XP\n", m.Rank, m.UserID, m.Level, m.XP)
		}
	}
	return text
}
