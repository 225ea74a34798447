package importer

import (
	"fmt"
	"strconv"
)

// Fact is a number of a preview.
type Fact struct {
	Name  string
	Value int
}

// Facts returns the numbers of a preview: Members, and all others that are not 0.
func (p *Plan) Facts(r *Report) (facts []Fact) {
	const subject = 6
	for i, f := range []Fact{
		{"Members", p.Members}, {"New", p.New}, {"Changed", p.Changed}, {"Unchanged", p.Unchanged}, {"Lower than now", p.Lower},
		{"Skipped rows", r.SkippedRows()}, {"Duplicate rows", r.Duplicates}, {"Below the minimum level", p.BelowMinLevel},
		{"Capped at the maximum XP", p.Capped}, {"XP taken from the level", p.FromLevels}, {"Hidden from the board", p.NotPresent},
		{"Level differs from the source", p.ChangeLevel},
	} {
		if i < subject || f.Value > 0 {
			facts = append(facts, f)
		}
	}
	return facts
}

// Taken names the settings in the files that a guild can have.
func (p *Proposal) Taken() (list []string) {
	if p.given["curve"] != nil {
		list = append(list, "the curve")
	}
	if p.rewards != nil {
		list = append(list, fmt.Sprintf("the role rewards (%d, in place of the guild's)", len(p.rewards)))
	}
	if p.given["xpPerMessageMin"] != nil {
		list = append(list, fmt.Sprintf("the XP per message (%s to %s)", p.given["xpPerMessageMin"], p.given["xpPerMessageMax"]))
	}
	if p.given["xpGainInterval"] != nil {
		milliseconds, _ := strconv.ParseFloat(string(p.given["xpGainInterval"]), 64)
		list = append(list, fmt.Sprintf("the cooldown (%v s)", milliseconds/1000))
	}
	if p.given["xpGlobalMultiplier"] != nil {
		list = append(list, fmt.Sprintf("the global multiplier (%s)", p.given["xpGlobalMultiplier"]))
	}
	return list
}
