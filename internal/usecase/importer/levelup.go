package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// levelUpSettings are a guild's settings, with LevelUp's defaults.
type levelUpSettings struct {
	base       float64
	exp        float64
	roles      map[string]jsontext.Value // by level; ids are numbers above 2^53
	autoremove bool
}

// readLevelUpAll reads the entry of one guild from a backup of all.
func (j *jsonFile) readLevelUpAll() error {
	asked := j.o.SourceGuild
	if asked == "" {
		asked = j.o.Guild
	}
	found := false
	var others []string
	err := j.object("the file", map[string]func() error{"configs": func() error {
		return j.names("configs", func(name string) error {
			if name == string(asked) && !found {
				found = true
				return j.readLevelUp()
			}
			if len(others) < 10 {
				others = append(others, shortly(name))
			}
			return j.skipValue()
		})
	}})
	if err == nil && !found {
		slices.Sort(others)
		message := fmt.Sprintf("the backup has no guild %s; name one of its guilds as the source: %s", asked, strings.Join(others, ", "))
		return &FileError{File: j.found().Name, Message: message, Guilds: others}
	}
	return err
}

func (j *jsonFile) readLevelUp() error {
	s := levelUpSettings{base: 100, exp: 2}
	r, cooldown := rates{bounds: []number{3, 6}}, 60.0
	err := j.object("the guild", map[string]func() error{
		"users": j.keyed("users", j.levelUpMember),
		"algorithm": j.fields("algorithm", map[string]func() error{
			"base": part(j, "base", &s.base), "exp": part(j, "exp", &s.exp),
		}),
		"levelroles": part(j, "levelroles", &s.roles),
		"autoremove": part(j, "autoremove", &s.autoremove),
		"xp":         part(j, "xp", &r.bounds),
		"cooldown":   part(j, "cooldown", &cooldown),
	})
	if err != nil {
		return err
	}
	s.propose(&j.report.Proposal)
	r.interval = milliseconds(cooldown)
	r.propose(&j.report.Proposal)
	return nil
}

// levelUpMember reads a member. LevelUp omits values that are 0, the default. XP is a float that counts from the last prestige.
func (j *jsonFile) levelUpMember(m *jsonMember) (Row, Reason) {
	names := memberNames{"id", "xp", "level", "messages"}
	for _, name := range []string{names.xp, names.level, names.messages} {
		if _, given := m.has[name]; !given {
			m.has[name] = jsontext.Value("0")
		}
	}
	row, why := m.row(names)
	prestige := 0
	if m.read("prestige", &prestige); prestige > 0 && why == "" {
		j.prestiges++
	}
	return row, why
}

// propose takes the curve and the role rewards. LevelUp's level is floor((xp/base)^(1/exp)), so a level begins at base*level^exp.
func (s *levelUpSettings) propose(p *Proposal) {
	const highest = 4
	if power := int(s.exp); s.exp == math.Trunc(s.exp) && power >= 1 && power <= highest {
		coefficients := make([]float64, power+1)
		coefficients[power] = s.base
		p.coefficients("algorithm", coefficients)
	} else {
		p.refuse("algorithm", fmt.Sprintf("its exponent is %v, and a curve has 1, 2, 3 or 4", s.exp))
	}
	levels := make([]string, 0, len(s.roles))
	for at := range s.roles {
		levels = append(levels, at)
	}
	slices.Sort(levels)
	for _, at := range levels {
		role, _ := literal(s.roles[at])
		n := levelOf(at)
		if n == noLevel {
			p.refuse("the role of level "+shortly(at), "levels are whole numbers from 0 to 10000")
			continue
		}
		p.reward(int(n), !s.autoremove, guild.Role{ID: id.Role(role)})
	}
}
