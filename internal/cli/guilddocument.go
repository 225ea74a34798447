package cli

import (
	"cmp"
	"strconv"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/properties"
)

// guildDocument is a guild's document as a service of this or a newer version answers it.
type guildDocument struct{ guild.Settings }

// UnmarshalJSON reads it.
func (g *guildDocument) UnmarshalJSON(document []byte) (err error) {
	g.Settings, err = guild.Answered(document)
	return err
}

// board says who may read the board, and its vanity.
func (g guildDocument) board() string {
	if g.Vanity == "" {
		return string(g.Visibility)
	}
	return string(g.Visibility) + ", " + string(g.Vanity)
}

func (g guildDocument) row() []string {
	return []string{string(g.ID), g.Name, strconv.Itoa(g.MemberCount), g.board(), g.leveling()}
}

func (g guildDocument) leveling() string {
	if g.Enabled {
		return "enabled"
	}
	return "disabled"
}

// facts are the lines of `guild get`, a name and a value each.
func (g guildDocument) facts() [][]string {
	facts := [][]string{{"  ID", string(g.ID)}}
	for _, fact := range properties.Facts(&g.Settings) {
		facts = append(facts, []string{"  " + fact.Label, cmp.Or(fact.Words, "none")})
	}
	return facts
}
