package importer

import "fmt"

// Fact is a number of a preview.
type Fact struct {
	Name  string
	Value int
}

// Facts are the numbers of a preview: its subject, and whatever else is not 0.
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

// Taken names the settings that the files have.
func (p *Proposal) Taken() (list []string) {
	take := func(given bool, format string, args ...any) {
		if given {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	take(p.Curve != nil, "the curve")
	take(p.Rewards != nil, "the role rewards (%d, in place of the ones there are)", len(p.Rewards))
	if p.XPPerMessageMin != nil && p.XPPerMessageMax != nil {
		take(true, "the XP per message (%d to %d)", *p.XPPerMessageMin, *p.XPPerMessageMax)
	}
	if p.XPGainInterval != nil {
		take(true, "the cooldown (%v s)", float64(*p.XPGainInterval)/1000)
	}
	if p.XPGlobalMultiplier != nil {
		take(true, "the global multiplier (%v)", *p.XPGlobalMultiplier)
	}
	return list
}
