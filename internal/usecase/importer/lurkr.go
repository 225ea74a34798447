package importer

import (
	"time"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// lurkrFile is the state of reading one file.
type lurkrFile struct {
	*jsonFile
	bare   bool // the file is a list without an object around it
	tags   bool // members are written in the older form
	export bool // the file is an export of Levelboard, or a page, whose curve is not known
}

func (j *jsonFile) readLevels() error {
	l := &lurkrFile{jsonFile: j}
	defer l.judge()
	var r rates
	var interval *number
	err := j.object("the file", map[string]func() error{
		"levels": l.list,
		"guild": func() error {
			l.export = true
			return j.guildObject()
		},
		"roleRewards":        j.apiRewards,
		"xpGainInterval":     part(j, "xpGainInterval", &interval),
		"xpPerMessageMin":    part(j, "xpPerMessageMin", &r.least),
		"xpPerMessageMax":    part(j, "xpPerMessageMax", &r.most),
		"xpGlobalMultiplier": part(j, "xpGlobalMultiplier", &r.multiplier),
	})
	if interval != nil {
		r.interval = new(int64(*interval))
	}
	r.propose(&j.report.Proposal)
	return err
}

func (j *jsonFile) readLevelsList() error {
	l := &lurkrFile{jsonFile: j, bare: true}
	defer l.judge()
	return l.list()
}

func (l *lurkrFile) list() error {
	take := l.member
	if l.o.From == Arcane {
		take = l.arcaneMember
	}
	return l.jsonFile.list("levels", l.members(take))
}

// member reads a member of an export of Lurkr (older ones have tag and avatar, newer
// ones user) or of Levelboard, of a page of the API, or of a scrape of Arcane.
func (l *lurkrFile) member(m *jsonMember) (Row, Reason) {
	row, why := m.row(memberNames{"userId", "xp", "level", "messageCount"})
	var present *bool
	var flags []string
	m.read("present", &present)
	m.read("hidden", &flags)
	if present != nil {
		row.Present, l.export = *present, true
	}
	row.Hidden, _ = hidden.Parse(flags...)
	row.LastUpdated = readTime(orEmpty(m.text("lastUpdated")))
	row.User = l.user(l.userOf(m))
	if row.Shown != (level.Curve{}).LevelAt(row.XP) {
		l.misfits++
	}
	return row, why
}

func (l *lurkrFile) userOf(m *jsonMember) leaderboard.User {
	var user *struct {
		Avatar        *string `json:"avatar"`
		Discriminator string  `json:"discriminator"`
		GlobalName    *string `json:"globalName"`
		Username      string  `json:"username"`
	}
	if m.read("user", &user); user == nil {
		l.tags = true
		return tagged(orEmpty(m.text("tag")), m.text("avatar"))
	}
	return leaderboard.User{Avatar: user.Avatar, Discriminator: user.Discriminator, GlobalName: user.GlobalName, Username: user.Username}
}

// arcaneMember reads a member of Arcane. XP counts from the beginning of the level, and there is no message count.
func (l *lurkrFile) arcaneMember(m *jsonMember) (Row, Reason) {
	row, why := l.member(m)
	if why != "" {
		return row, why
	}
	if row.Shown == noLevel {
		return row, ReasonLevel
	}
	n := int64(row.Shown)
	row.gain(50*n*n + 25*n + row.Given)
	row.MessageCount = nil
	return row, ""
}

// judge takes the curve of the source. It warns of a file that may be Arcane's:
// one in the older form that is a bare list, or whose levels do not fit its XP.
func (l *lurkrFile) judge() {
	if l.o.From == Arcane {
		l.report.Proposal.coefficients("Arcane's curve", []float64{0, 25, 50})
		return
	}
	switch {
	case l.export, l.found().Rows == 0:
	case l.tags && (l.bare || l.misfits > 0):
		l.report.warn("%s may be Arcane's, whose XP is counted from the beginning of the level; it was read as Lurkr's. "+
			"If it is Arcane's, name Arcane as the source.", l.found().Name)
		l.report.Proposal.refuse("the curve", "it is not certain which source the file is from")
	default:
		l.report.Proposal.preset(level.PresetDefault)
	}
}

// guildObject notes the guild of an object with an id.
func (j *jsonFile) guildObject() error {
	var g struct {
		ID string `json:"id"`
	}
	if _, err := j.decode(&g); err != nil {
		return err
	}
	j.about(id.Guild(g.ID))
	return nil
}

// readTime returns zero for an invalid time; the member is still imported.
func readTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
