package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"
)

var commands = []*discordgo.ApplicationCommand{
	{Name: "rank", Description: "A member's level and rank", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionUser, Name: "member", Description: "You, if left out"},
	}},
	{Name: "leaderboard", Description: "The top ten", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "period", Description: "All time, if left out", Choices: []*discordgo.ApplicationCommandOptionChoice{
			{Name: "day", Value: "day"}, {Name: "week", Value: "week"}, {Name: "month", Value: "month"}, {Name: "season", Value: "season"},
		}},
	}},
}

// onCommand answers in two steps: the first within the three seconds that Discord gives, the second when Levelboard has answered.
func (b *bot) onCommand(_ *discordgo.Session, i *discordgo.InteractionCreate) {
	if i.Type != discordgo.InteractionApplicationCommand || i.Member == nil {
		return
	}
	logged(b.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}))
	command, option := i.ApplicationCommandData(), ""
	if len(command.Options) > 0 {
		option, _ = command.Options[0].Value.(string)
	}
	show := leaderboard
	if command.Name == "rank" {
		show, option = rank, cmp.Or(option, i.Member.User.ID)
	}
	answer, err := show(i.GuildID, option)
	if missing := (*statusError)(nil); errors.As(err, &missing) && missing.status == http.StatusNotFound {
		text := "There is nothing to show yet."
		answer, err = &discordgo.WebhookEdit{Content: &text}, nil
	}
	if logged(err); err == nil {
		_, err = b.InteractionResponseEdit(i.Interaction, answer)
		logged(err)
	}
}

func rank(guildID, userID string) (*discordgo.WebhookEdit, error) {
	var card []byte
	_, err := call(http.MethodGet, "/v2/levels/"+guildID+"/users/"+userID+"/card.png", nil, &card)
	return &discordgo.WebhookEdit{Files: []*discordgo.File{{Name: "rank.png", ContentType: "image/png", Reader: bytes.NewReader(card)}}}, err
}

func leaderboard(guildID, period string) (*discordgo.WebhookEdit, error) {
	var board struct{ Levels []member }
	path := "/v2/levels/" + guildID + "?page=1"
	if period != "" {
		path += "&period=" + period
	}
	_, err := call(http.MethodGet, path, nil, &board)
	var text strings.Builder
	for _, m := range board.Levels[:min(10, len(board.Levels))] {
		if period == "" {
			fmt.Fprintf(&text, "%d. <@%s> level %d, %d XP\n", m.Rank, m.UserID, m.Level, m.XP)
		} else {
			fmt.Fprintf(&text, "%d. <@%s> +%d XP\n", m.Rank, m.UserID, m.Gained)
		}
	}
	content := cmp.Or(text.String(), "Nobody yet.")
	return &discordgo.WebhookEdit{Content: &content, AllowedMentions: &discordgo.MessageAllowedMentions{}}, err
}
