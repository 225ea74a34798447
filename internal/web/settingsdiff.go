package web

import "strings"

// difference is a property that is saved otherwise than a form has it.
type difference struct{ Label, Saved, Mine string }

// differences compares what is saved with what a form would save.
func differences(saved, mine settingsForm) []difference {
	found := []difference{}
	add := func(property, a, b string) {
		if a != b {
			found = append(found, difference{fieldLabels[property], shortened(a), shortened(b)})
		}
	}
	add("enabled", onOff(saved.Enabled), onOff(mine.Enabled))
	add("visibility", saved.Visibility, mine.Visibility)
	add("vanity", saved.Vanity, mine.Vanity)
	add("curve", saved.curveText(), mine.curveText())
	add("xpGainInterval", saved.Interval, mine.Interval)
	add("xpPerMessageMin", saved.Min, mine.Min)
	add("xpPerMessageMax", saved.Max, mine.Max)
	add("xpGlobalMultiplier", saved.Global, mine.Global)
	add("ignoredChannelIds", saved.IgnoredChannels, mine.IgnoredChannels)
	add("ignoredRoleIds", saved.IgnoredRoles, mine.IgnoredRoles)
	add("multipliers", multipliersText(saved.Multipliers), multipliersText(mine.Multipliers))
	add("roleRewards", rewardsText(saved.Rewards), rewardsText(mine.Rewards))
	return found
}

func multipliersText(multipliers []multiplierRow) string {
	var b strings.Builder
	for _, m := range multipliers {
		b.WriteString(m.Type + " × " + m.Multiplier + ": " + m.Targets)
	}
	return b.String()
}

func rewardsText(rewards []rewardRow) string {
	var b strings.Builder
	for _, r := range rewards {
		b.WriteString("Level " + r.Level)
		if !r.Stack {
			b.WriteString(" (does not stay)")
		}
		b.WriteString(": " + r.Roles)
	}
	return b.String()
}

func (f settingsForm) curveText() string {
	if f.Curve != ownCurve {
		return f.Curve
	}
	return strings.TrimSpace(strings.Join(f.Coefficients[:], " "))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// shortened keeps a list of two hundred roles from filling the page.
func shortened(s string) string {
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > 300 {
		return string(runes[:300]) + " …"
	}
	if len(runes) == 0 {
		return "nothing"
	}
	return string(runes)
}
