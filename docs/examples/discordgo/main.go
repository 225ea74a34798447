// Command levelboard-bot keeps communities' levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and
// LEVELBOARD_URL if the service is elsewhere.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"example.org/levelboard-bot/levelboard"
	discord "github.com/bwmarrin/discordgo"
)

func main() {
	s, _ := discord.New("Bot " + os.Getenv("DISCORD_TOKEN"))
	s.Identify.Intents = discord.IntentsGuilds | discord.IntentsGuildMembers | discord.IntentsGuildMessages
	s.SyncEvents = true // in order: who leaves and comes back is there
	client := levelboard.NewClient(cmp.Or(os.Getenv("LEVELBOARD_URL"), "http://127.0.0.1:8080"), os.Getenv("LEVELBOARD_KEY"))
	bot := levelboard.NewBot(client, chat{s})
	s.AddHandler(func(s *discord.Session, e *discord.Event) { onEvent(s, bot, e.Struct) })
	if err := s.Open(); err != nil {
		log.Fatal(err)
	}
	_, err := s.ApplicationCommandBulkOverwrite(s.State.User.ID, "", commands)
	levelboard.Log(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // another signal ends the bot at once
	bot.Run(ctx)
}

func onEvent(s *discord.Session, bot *levelboard.Bot, event any) {
	switch e := event.(type) {
	case *discord.GuildCreate:
		bot.Follow(e.ID)
	case *discord.GuildMemberAdd:
		bot.NotePresence(e.GuildID, e.User.ID, true)
	case *discord.GuildMemberRemove:
		bot.NotePresence(e.GuildID, e.User.ID, false)
	case *discord.MessageCreate:
		written := e.Type == discord.MessageTypeDefault || e.Type == discord.MessageTypeReply
		if written && e.Member != nil && !e.Author.Bot {
			bot.NoteMessage(e.GuildID, describe(s, e.Message))
		}
	case *discord.InteractionCreate:
		if e.Type == discord.InteractionApplicationCommand && e.Member != nil {
			go onCommand(s, bot.Client, e.Interaction)
		}
	}
}

// chat is Discord as Levelboard sees it.
type chat struct{ *discord.Session }

func (c chat) Members(guildID string) (map[string][]string, error) {
	all, last := map[string][]string{}, ""
	for full := true; full; {
		members, err := c.GuildMembers(guildID, last, 1000)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if last = m.User.ID; !m.User.Bot {
				all[last] = m.Roles
			}
		}
		full = len(members) == 1000
	}
	return all, nil
}

func (c chat) Roles(guildID, userID string) ([]string, error) {
	member, err := c.GuildMember(guildID, userID)
	if err != nil {
		return nil, err
	}
	return member.Roles, nil
}

func (c chat) SetRole(guildID, userID, roleID string, given bool) error {
	if given {
		return c.GuildMemberRoleAdd(guildID, userID, roleID)
	}
	return c.GuildMemberRoleRemove(guildID, userID, roleID)
}

func (c chat) Announce(guildID string, period levelboard.Answer) error {
	guild, err := c.State.Guild(guildID)
	if err == nil && guild.SystemChannelID != "" {
		title := "**" + cmp.Or(period.Name, "The "+period.Kind+" "+period.ID) + " is over!**\n"
		_, err = c.ChannelMessageSend(guild.SystemChannelID, title+ranking(period.Winners, 3))
	}
	return err
}

type object = map[string]any

func (c chat) Directory(guildID string) any {
	guild, err := c.State.Guild(guildID)
	if err != nil {
		return object{} // nothing changes
	}
	c.State.RLock()
	defer c.State.RUnlock()
	roles, channels := []object{}, []object{}
	for _, r := range guild.Roles {
		if r.ID != guildID { // @everyone
			color := orNull(r.Color)
			roles = append(roles, object{"id": r.ID, "name": r.Name, "color": color, "position": r.Position})
		}
	}
	for _, ch := range guild.Channels {
		parent := orNull(ch.ParentID)
		channel := object{"id": ch.ID, "name": ch.Name, "parentId": parent, "position": ch.Position, "type": ch.Type}
		channels = append(channels, channel)
	}
	icon := orNull(guild.Icon)
	return object{"name": guild.Name, "icon": icon, "memberCount": guild.MemberCount, "roles": roles, "channels": channels}
}

// orNull returns a value for JSON, where a zero value is null: no avatar, no parent.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// describe returns what Levelboard needs of a message, and not what was written.
func describe(s *discord.Session, m *discord.Message) object {
	message := object{"userId": m.Author.ID, "channelId": m.ChannelID, "roleIds": m.Member.Roles, "user": object{
		"username": m.Author.Username, "globalName": orNull(m.Author.GlobalName),
		"discriminator": m.Author.Discriminator, "avatar": orNull(m.Author.Avatar),
	}}
	if channel, err := s.State.Channel(m.ChannelID); err == nil {
		message["parentChannelId"] = orNull(channel.ParentID)
	}
	return message
}

var commands = []*discord.ApplicationCommand{
	{Name: "rank", Description: "A member's level and rank", Options: []*discord.ApplicationCommandOption{
		{Name: "member", Description: "You, if left out", Type: discord.ApplicationCommandOptionUser},
	}},
	{Name: "leaderboard", Description: "The top ten", Options: []*discord.ApplicationCommandOption{
		{Name: "period", Description: "All time, if left out", Type: discord.ApplicationCommandOptionString,
			Choices: []*discord.ApplicationCommandOptionChoice{
				{Name: "day", Value: "day"}, {Name: "week", Value: "week"},
				{Name: "month", Value: "month"}, {Name: "season", Value: "season"},
			}},
	}},
}

// onCommand answers in two steps: within the three seconds that Discord allows, and when Levelboard has answered.
func onCommand(s *discord.Session, client *levelboard.Client, i *discord.Interaction) {
	later := discord.InteractionResponseDeferredChannelMessageWithSource
	levelboard.Log(s.InteractionRespond(i, &discord.InteractionResponse{Type: later}))
	command, path, option := i.ApplicationCommandData(), "/v2/levels/"+i.GuildID, ""
	if len(command.Options) > 0 {
		option, _ = command.Options[0].Value.(string)
	}
	switch {
	case command.Name == "rank":
		path += "/users/" + cmp.Or(option, i.Member.User.ID) + "/card.png"
	case option != "":
		path += "?page=1&period=" + option
	default:
		path += "?page=1"
	}
	answer, err := client.Call("GET", path, nil)
	levelboard.Log(err)
	text := cmp.Or(ranking(answer.Levels, 10), "There is nothing to show yet.")
	reply := &discord.WebhookEdit{Content: &text, AllowedMentions: &discord.MessageAllowedMentions{}}
	if command.Name == "rank" && err == nil {
		text = ""
		reply.Files = []*discord.File{{Name: "rank.png", ContentType: "image/png", Reader: bytes.NewReader(answer.Body)}}
	}
	_, err = s.InteractionResponseEdit(i, reply)
	levelboard.Log(err)
}

// ranking shows the first of a board: what they gained in its period, or all that they have.
func ranking(members []levelboard.Answer, n int) (text string) {
	for _, m := range members[:min(n, len(members))] {
		text += fmt.Sprintf("%d. <@%s> ", m.Rank, m.UserID)
		if m.Gained > 0 {
			text += fmt.Sprintf("+%d XP\n", m.Gained)
		} else {
			text += fmt.Sprintf("level %d, %d XP\n", m.Level, m.XP)
		}
	}
	return text
}
