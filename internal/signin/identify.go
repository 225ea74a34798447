package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"levelboard/internal/guild"
	"levelboard/internal/id"
)

const (
	// administrator is the bit of a member's permissions that allows everything.
	administrator = 1 << 3
	// maxGuilds is how many guilds of a user are kept: as many as the provider allows anybody to join.
	maxGuilds = 200
	// maxName bounds a name that is kept, in bytes.
	maxName = 256
)

type userAnswer struct {
	ID         string  `json:"id"`
	Username   string  `json:"username"`
	GlobalName *string `json:"global_name"`
	Avatar     *string `json:"avatar"`
}

type guildAnswer struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Icon        *string         `json:"icon"`
	Owner       bool            `json:"owner"`
	Permissions json.RawMessage `json:"permissions"` // a number in a string, or a number
}

// Identify asks who gave us this access, and which guilds they are in. What is not as it should be in the answer is left
// out, and a guild whose permissions cannot be read is one that the user does not administer.
func (p *Provider) Identify(ctx context.Context, t Token) (User, []Guild, error) {
	var who userAnswer
	if err := p.get(ctx, "/users/@me", t, &who); err != nil {
		return User{}, nil, err
	}
	user, err := who.user()
	if err != nil {
		return User{}, nil, err
	}
	var in []guildAnswer
	if err := p.get(ctx, "/users/@me/guilds", t, &in); err != nil {
		return User{}, nil, err
	}
	var guilds []Guild
	for _, g := range in {
		if known, ok := g.guild(); ok && len(guilds) < maxGuilds {
			guilds = append(guilds, known)
		}
	}
	return user, guilds, nil
}

func (a userAnswer) user() (User, error) {
	userID, err := id.Parse[id.User](a.ID)
	if err != nil {
		return User{}, fmt.Errorf("the provider's id of the user %w", err)
	}
	name := a.Username
	if a.GlobalName != nil {
		name = cmp.Or(*a.GlobalName, name)
	}
	return User{ID: userID, Name: cmp.Or(cut(name), "User "+a.ID[len(a.ID)-4:]), Avatar: hash(a.Avatar)}, nil
}

func (a guildAnswer) guild() (Guild, bool) {
	guildID, err := id.Parse[id.Guild](a.ID)
	if err != nil {
		return Guild{}, false
	}
	permissions, err := strconv.ParseUint(strings.Trim(string(a.Permissions), `"`), 10, 64)
	g := Guild{ID: guildID, Owner: a.Owner, Administrator: err == nil && permissions&administrator != 0}
	if g.Manages() {
		g.Name, g.Icon = cut(a.Name), hash(a.Icon)
	}
	return g, true
}

func hash(of *string) string {
	if of == nil || guild.ParseAvatar(*of) != nil {
		return ""
	}
	return *of
}

// cut bounds a name without leaving half a character.
func cut(name string) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
	for len(name) > maxName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name
}
