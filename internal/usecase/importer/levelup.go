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

// levelUpMember is a member of a LevelUp backup, which leaves out whatever has its default value, 0.
type levelUpMember struct {
	XP       jsontext.Value `json:"xp"` // a float, since the last prestige
	Messages jsontext.Value `json:"messages"`
	Level    jsontext.Value `json:"level"`
	Prestige int            `json:"prestige"`
}

// levelUpSettings are the settings of a guild, with LevelUp's defaults.
type levelUpSettings struct {
	base       float64
	exp        float64
	roles      map[string]jsontext.Value // by level; ids are numbers above 2^53
	autoremove bool
}

// readLevelUpAll reads the entry of one guild from the backup of all.
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
		"users": func() error {
			return j.names("users", func(user string) error {
				return members(j, func(m *levelUpMember) (Row, Reason) { return j.levelUpMember(user, m) })()
			})
		},
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

func (j *jsonFile) levelUpMember(user string, m *levelUpMember) (Row, Reason) {
	row, why := newRow(user)
	if why != "" {
		return row, why
	}
	xp, why := readWhole(orZero(m.XP))
	if why != "" {
		return row, why
	}
	row.gain(xp)
	row.Shown = readLevel(orZero(m.Level))
	if m.Prestige > 0 {
		j.prestiges++
	}
	row.MessageCount, why = readCount(orZero(m.Messages))
	return row, why
}

func orZero(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("0")
	}
	return v
}

// propose takes the curve and the role rewards. A level is floor((xp/base)^(1/exp)), so it begins at base*level^exp.
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
