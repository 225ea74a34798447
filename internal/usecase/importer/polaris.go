package importer

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// polarisSettings are a guild's settings in Polaris.
type polarisSettings struct {
	Curve    map[string]float64 // by power
	Rounding float64
	MaxLevel number
}

type polarisReward struct {
	ID     string `json:"id"`
	Level  number `json:"level"`
	Keep   bool   `json:"keep"` // Stack in a guild.RoleReward
	NoSync bool   `json:"noSync"`
}

func (j *jsonFile) readPolaris() error {
	return j.object("the file", map[string]func() error{"settings": j.polarisSettings, "users": j.keyed("users", j.polarisMember)})
}

func (j *jsonFile) readPolarisList() error { return j.list("the file", j.members(j.polarisMember)) }

// polarisMember reads a member. Polaris' own members have no names or messages, but other lists of ids and XP may have them.
func (j *jsonFile) polarisMember(m *jsonMember) (Row, Reason) {
	row, why := m.row(memberNames{id: "id", xp: "xp", messages: "messages"})
	var isHidden, missing bool
	m.read("hidden", &isHidden)
	m.read("missing", &missing)
	if row.Present = !missing; isHidden {
		row.Hidden = hidden.ByManager
	}
	name, _ := literal(m.has["name"])
	row.User = j.user(tagged(name, nil))
	return row, why
}

// polarisSettings reads the settings. One that cannot be read is skipped.
func (j *jsonFile) polarisSettings() error {
	var s polarisSettings
	var r rates
	var seconds *float64
	p := &j.report.Proposal
	err := j.fields("Polaris' settings", map[string]func() error{
		"gain": j.fields("gain", map[string]func() error{
			"min": part(j, "gain.min", &r.least), "max": part(j, "gain.max", &r.most), "time": part(j, "gain.time", &seconds),
		}),
		"curve":    part(j, "the curve", &s.Curve),
		"rounding": part(j, "rounding", &s.Rounding),
		"maxLevel": part(j, "maxLevel", &s.MaxLevel),
		"rewards": listed(j, "rewards", func(reward *polarisReward) {
			p.reward(int(reward.Level), reward.Keep, guild.Role{ID: id.Role(reward.ID)})
			if reward.NoSync {
				p.refuse("noSync of role "+shortly(reward.ID), "the roles of rewards always follow the level")
			}
		}),
	})()
	if err != nil {
		return err
	}
	if seconds != nil {
		r.interval = milliseconds(*seconds)
	}
	r.propose(p)
	if s.Curve != nil {
		j.polarisCurve(s)
	}
	return nil
}

// polarisCurve takes the curve, without its rounding.
func (j *jsonFile) polarisCurve(s polarisSettings) {
	p := &j.report.Proposal
	coefficients := []float64{0, s.Curve["1"], s.Curve["2"], s.Curve["3"]}
	for power := range s.Curve {
		if !strings.Contains("123", power) || len(power) != 1 {
			p.refuse("the curve", "it has the power "+shortly(power)+", and only 1, 2 and 3 are known")
			return
		}
	}
	for len(coefficients) > 2 && coefficients[len(coefficients)-1] == 0 {
		coefficients = coefficients[:len(coefficients)-1]
	}
	p.coefficients("the curve", coefficients)
	if s.Rounding > 1 {
		p.refuse("the curve's rounding", fmt.Sprintf("levels cannot begin at multiples of %v only", s.Rounding))
	}
	if s.MaxLevel > 0 && s.MaxLevel < 10000 {
		p.refuse("the highest level", fmt.Sprintf("levels end at 10000, not at %d", s.MaxLevel))
	}
	j.shown = polarisLevels(s)
}

// readPolarisText reads lines of an id and XP: 1184930275610483773 - 24110.
func (f *fileReader) readPolarisText(content *bufio.Reader, prefix []byte) error {
	lines := bufio.NewScanner(lineFeeds(content, prefix))
	lines.Buffer(nil, maxValue)
	line := 0
	for lines.Scan() {
		line++
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		user, xp, ok := strings.Cut(text, " - ")
		if !ok {
			_ = f.skip(line, ReasonText) // cannot fail
			continue
		}
		row, why := newRow(strings.TrimSpace(user))
		if why == "" {
			var n int64
			n, why = whole(strings.TrimSpace(xp))
			row.gain(n)
		}
		if err := f.emit(line, row, why); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return f.fail(line+1, errLong.Error(), nil)
	} else if err != nil {
		return f.fail(line+1, "the file cannot be read", err)
	}
	return nil
}

// shownLevel returns the level that a source shows for XP.
type shownLevel func(xp int64) level.Level

// polarisLevels returns the levels as Polaris counts them. The XP of a level is rounded
// to a multiple, halves up. A member is below the first level whose XP they do not have.
func polarisLevels(s polarisSettings) shownLevel {
	top := int(level.Max)
	if s.MaxLevel > 0 {
		top = min(top, int(s.MaxLevel))
	}
	begins := make([]float64, top) // begins[n-1] is the minimum XP of level n
	highest := 0.0
	for i := range begins {
		n := float64(i + 1)
		xp := s.Curve["1"]*n + s.Curve["2"]*n*n + s.Curve["3"]*n*n*n
		step := max(1, s.Rounding)
		highest = max(highest, step*math.Floor(xp/step+0.5))
		begins[i] = highest
	}
	return func(xp int64) level.Level {
		return level.Level(sort.Search(top, func(i int) bool { return begins[i] > float64(xp) }))
	}
}
