// Command levelboard-bot keeps a community's levels in Levelboard. It needs DISCORD_TOKEN and LEVELBOARD_KEY, and LEVELBOARD_URL if the service is
// elsewhere.
package main

import (
	"cmp"
	"encoding/json"
	"log"
	"maps"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bwmarrin/discordgo"
)

// news is what the next second hands over of a guild.
type news struct {
	messages []map[string]any
	present  map[string]bool
	changed  bool
}

type bot struct {
	*discordgo.Session
	mu     sync.Mutex
	guilds map[string]*news
	roles  sync.Mutex // is held while roles change, so that they do so in order
}

func main() {
	session, _ := discordgo.New("Bot " + os.Getenv("DISCORD_TOKEN"))
	session.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMembers | discordgo.IntentsGuildMessages
	b := &bot{Session: session, guilds: map[string]*news{}}
	b.AddHandler(b.onMessage)
	b.AddHandler(b.onCommand)
	b.AddHandler(b.onEvent)
	b.AddHandler(func(_ *discordgo.Session, m *discordgo.GuildMemberAdd) {
		b.note(m.GuildID, func(n *news) { n.present[m.User.ID] = true })
	})
	b.AddHandler(func(_ *discordgo.Session, m *discordgo.GuildMemberRemove) {
		b.note(m.GuildID, func(n *news) { n.present[m.User.ID] = false })
	})
	b.AddHandler(func(_ *discordgo.Session, g *discordgo.GuildCreate) {
		if b.note(g.ID, func(*news) {}) {
			go b.follow(g.ID)
		}
	})
	if err := b.Open(); err != nil {
		log.Fatal(err)
	}
	if _, err := b.ApplicationCommandBulkOverwrite(b.State.User.ID, "", commands); err != nil {
		log.Print(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	for stopping := false; !stopping; {
		select {
		case <-stop:
			stopping = true
		case <-time.After(time.Second):
		}
		b.mu.Lock()
		ids := maps.Clone(b.guilds)
		b.mu.Unlock()
		for id := range ids { // a guild whose call fails does not hold up the others
			if err := b.handOver(id); err != nil {
				log.Print(err)
			}
		}
	}
}

// note changes what a guild hands over next, and reports whether the guild is new.
func (b *bot) note(guildID string, change func(*news)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, known := b.guilds[guildID]
	if !known {
		n = &news{present: map[string]bool{}, changed: true}
		b.guilds[guildID] = n
	}
	change(n)
	return !known
}

// onEvent notes that the guild, a channel or a role has changed.
func (b *bot) onEvent(_ *discordgo.Session, e *discordgo.Event) {
	if e.Type == "GUILD_UPDATE" || strings.HasPrefix(e.Type, "CHANNEL_") || strings.HasPrefix(e.Type, "GUILD_ROLE_") {
		var of struct {
			ID      string
			GuildID string `json:"guild_id"`
		}
		if json.Unmarshal(e.RawData, &of) == nil {
			b.note(cmp.Or(of.GuildID, of.ID), func(n *news) { n.changed = true })
		}
	}
}

func (b *bot) onMessage(_ *discordgo.Session, m *discordgo.MessageCreate) {
	if m.Member == nil || m.Author.Bot || m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return
	}
	message := map[string]any{"userId": m.Author.ID, "channelId": m.ChannelID, "roleIds": m.Member.Roles, "user": map[string]any{
		"username": m.Author.Username, "globalName": orNull(m.Author.GlobalName), "discriminator": m.Author.Discriminator, "avatar": orNull(m.Author.Avatar),
	}}
	if channel, err := b.State.Channel(m.ChannelID); err == nil {
		message["parentChannelId"] = orNull(channel.ParentID)
	}
	b.note(m.GuildID, func(n *news) { n.messages = append(n.messages, message) })
}

// orNull is the value, or null in JSON if it is zero.
func orNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
