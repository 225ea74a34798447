package keeper

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

const (
	maxXP     = 2147483647
	boardRows = 10 // members on one page of /leaderboard; a page of Levelboard is ten of them
)

// Asked implements chat.Listener. internal/bot/commands.json describes the commands.
func (g *guild) Asked(ctx context.Context, q chat.Question) chat.Reply {
	if g.key() == "" {
		return private("The bot is still connecting this server to Levelboard. Try again in a minute.")
	}
	name, value, _ := strings.Cut(q.Command, " ")
	var reply chat.Reply
	var err error
	switch name {
	case "rank":
		reply, err = g.rank(ctx, q)
	case "leaderboard":
		reply, err = g.leaderboard(ctx, cmp.Or(value, "1 "+q.Options["period"]))
	case "xp":
		reply, err = g.changeXP(ctx, q, value)
	case "hide":
		reply, err = g.hideSelf(ctx, q.Asker.ID)
	case "levels":
		url := g.k.PublicURL
		reply = private(fmt.Sprintf("The board: %s/leaderboard/%s\nYour profile: %s/profile\nSettings, for managers: %s/guilds/%s/settings", url, g.id, url, url, g.id))
	default:
		reply = private("The bot does not know this command. It may be one of an earlier version.")
	}
	if err != nil {
		g.log.Warn("a command failed", "command", name, "error", err)
		return private("Levelboard does not respond. Try again in a minute.")
	}
	return reply
}

func private(text string) chat.Reply { return chat.Reply{Text: text, Private: true} }

// member is a member as Levelboard has one.
type member struct {
	UserID                                         string
	Rank, Of, XP, Level, NextLevelXP, MessageCount int
	Hidden                                         []string
	User                                           struct{ Username, GlobalName string }
}

func (m member) name() string { return cmp.Or(m.User.GlobalName, m.User.Username) }

func (g *guild) member(ctx context.Context, userID string) (m member, err error) {
	err = g.get(ctx, "/v2/guilds/"+g.id+"/members/"+userID, &m)
	return m, err
}

func (g *guild) rank(ctx context.Context, q chat.Question) (chat.Reply, error) {
	userID := cmp.Or(q.Options["member"], q.Asker.ID)
	m, err := g.member(ctx, userID)
	hidden := len(m.Hidden) > 0
	if api.Status(err) == http.StatusNotFound || hidden && userID != q.Asker.ID {
		return chat.Reply{Text: fmt.Sprintf("<@%s> has no rank yet. It begins with the first message.", userID)}, nil
	}
	if err != nil {
		return chat.Reply{}, err
	}
	reply := chat.Reply{Private: hidden, Text: fmt.Sprintf("<@%s> is #%d of %d: level %d with %d XP, next level at %d XP, %d messages.",
		userID, m.Rank, m.Of, m.Level, m.XP, m.NextLevelXP, m.MessageCount)}
	if hidden {
		reply.Text += " You are hidden from the board; only you see this."
	}
	if err := g.get(ctx, "/v2/levels/"+g.id+"/users/"+userID+"/card.png", &reply.Picture); err != nil {
		g.log.Warn("a card cannot be read", "error", err)
		reply.Picture = nil
	}
	return reply, nil
}

// leaderboard shows a page: its number and, after a space, the period.
func (g *guild) leaderboard(ctx context.Context, asked string) (chat.Reply, error) {
	number, period, _ := strings.Cut(asked, " ")
	page, _ := strconv.Atoi(number)
	page = max(page, 1)
	path := fmt.Sprintf("/v2/levels/%s?page=%d", g.id, (page-1)*boardRows/100+1)
	if period != "" {
		path += "&period=" + period
	}
	var board struct {
		Levels []struct {
			Rank, XP, Level, Gained int
			UserID                  string
		}
		Period struct{ ID, Name string }
	}
	err := g.get(ctx, path, &board)
	if api.Status(err) == http.StatusNotFound && period != "" {
		return private("This server counts no " + period + ". A manager can switch it on in the settings: /levels has the link."), nil
	}
	if err != nil {
		return chat.Reply{}, err
	}
	first := min((page-1)*boardRows%100, len(board.Levels))
	rows := board.Levels[first:min(first+boardRows, len(board.Levels))]
	text := "**Leaderboard**\n"
	if period != "" {
		text = fmt.Sprintf("**Leaderboard of the %s %s**\n", period, cmp.Or(board.Period.Name, board.Period.ID))
	}
	for _, m := range rows {
		has := fmt.Sprintf("level %d, %d XP", m.Level, m.XP)
		if period != "" {
			has = fmt.Sprintf("+%d XP", m.Gained)
		}
		text += fmt.Sprintf("%d. <@%s> %s\n", m.Rank, m.UserID, has)
	}
	if len(rows) == 0 {
		text += "There is nobody here yet."
	}
	button := func(to int) string { return strings.TrimSpace(fmt.Sprintf("leaderboard %d %s", to, period)) }
	return chat.Reply{Text: text, Buttons: []chat.Button{
		{ID: button(max(1, page-1)), Label: "Previous", Disabled: page == 1},
		{ID: button(page + 1), Label: "Next", Disabled: len(rows) < boardRows},
	}}, nil
}

// changeXP gives, takes or sets a member's XP. The audit log has who asked for it as the reason.
func (g *guild) changeXP(ctx context.Context, q chat.Question, how string) (chat.Reply, error) {
	amount, err := strconv.Atoi(q.Options["amount"])
	userID := q.Options["member"]
	if !q.Manages {
		return private("You need the permission Manage Server for that."), nil
	}
	if err != nil || amount < 0 || amount > maxXP || amount == 0 && how != "set" {
		return private("The amount must be a whole number from 1 to 2147483647; set takes 0, too."), nil
	}
	change := map[string]any{"give": object{"increment": amount}, "take": object{"decrement": amount}, "set": amount}[how]
	request := api.Request{
		Method: http.MethodPatch, Path: "/v2/levels/" + g.id + "/users/" + userID, Body: object{"xp": change}, Once: rand.Text(),
		Reason: fmt.Sprintf("/xp %s by %s (%s)", how, q.Asker.Username, q.Asker.ID),
	}
	type standing struct{ XP, Level int }
	var changed struct{ Level standing }
	err = g.call(ctx, request, &changed)
	if api.Status(err) == http.StatusNotFound && how != "take" {
		request.Method, request.Path, request.Once = http.MethodPut, "/v2/guilds/"+g.id+"/members", rand.Text()
		request.Body = object{"mode": map[string]string{"give": "add", "set": "set"}[how], "members": []object{{"userId": userID, "xp": amount}}}
		var made struct{ Results [1]standing }
		err = g.call(ctx, request, &made)
		changed.Level = made.Results[0]
	}
	if api.Status(err) == http.StatusNotFound {
		return private(fmt.Sprintf("<@%s> has no XP yet.", userID)), nil
	}
	if err != nil {
		return chat.Reply{}, err
	}
	return private(fmt.Sprintf("<@%s> has %d XP now, level %d.", userID, changed.Level.XP, changed.Level.Level)), nil
}

// hideSelf sets or lifts the member's own flag.
func (g *guild) hideSelf(ctx context.Context, userID string) (chat.Reply, error) {
	rows, err := g.hiddenRows(ctx)
	hidden := slices.ContainsFunc(rows, func(r row) bool { return r.UserID == userID && slices.Contains(r.By, bySelf) })
	if err == nil {
		err = g.setHidden(ctx, userID, bySelf, !hidden, "/hide")
	}
	if err != nil {
		return chat.Reply{}, err
	}
	if hidden {
		return private("You are back on the board, unless a manager hides you."), nil
	}
	return private("You are hidden from the board. You gain XP and roles as before. /hide again brings you back."), nil
}
