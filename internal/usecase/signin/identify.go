package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

const (
	// administrator is the bit of a member's permissions that allows everything.
	administrator = 1 << 3
	// maxGuilds is how many guilds of a user are stored: the provider's limit.
	maxGuilds = 200
	// maxName bounds a stored name, in bytes.
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

// Identity is the user of an access token, by the provider's answer.
type Identity struct {
	User   User
	Guilds []Guild // at most maxGuilds
	// Complete says that the whole answer could be read. Only then may a missing guild remove a right.
	Complete bool
}

// identify asks the provider for the user and their guilds. It skips what it cannot read.
func (p *Provider) identify(ctx context.Context, t Token) (Identity, error) {
	var who userAnswer
	if err := p.get(ctx, "/users/@me", t, &who); err != nil {
		return Identity{}, err
	}
	user, err := who.user()
	if err != nil {
		return Identity{}, err
	}
	var in []guildAnswer
	if err := p.get(ctx, "/users/@me/guilds", t, &in); err != nil {
		return Identity{}, err
	}
	// null does not mean an empty list of guilds.
	answer := Identity{User: user, Complete: in != nil && len(in) <= maxGuilds}
	for _, g := range in {
		known, whole := g.guild()
		answer.Complete = answer.Complete && whole
		if known.ID != "" && len(answer.Guilds) < maxGuilds {
			answer.Guilds = append(answer.Guilds, known)
		}
	}
	return answer, nil
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

// guild returns the guild, and whether all of the answer could be read. The guild's id is empty if the answer has none.
func (a guildAnswer) guild() (g Guild, whole bool) {
	guildID, err := id.Parse[id.Guild](a.ID)
	if err != nil {
		return Guild{}, false
	}
	permissions, err := strconv.ParseUint(strings.Trim(string(a.Permissions), `"`), 10, 64)
	g = Guild{ID: guildID, Owner: a.Owner, Administrator: err == nil && permissions&administrator != 0}
	if g.manages() {
		g.Name, g.Icon = cut(a.Name), hash(a.Icon)
	}
	return g, err == nil || a.Owner
}

func hash(of *string) string {
	if of == nil || !guild.ValidHash(*of) {
		return ""
	}
	return *of
}

// cut bounds a name without splitting a character.
func cut(name string) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
	for len(name) > maxName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name
}
