package importer

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// lurkrMember is a member of an export of Lurkr (older ones have tag and avatar, newer ones user), of Levelboard, of a page of the API, or
// of a scrape of Arcane.
type lurkrMember struct {
	UserID       jsontext.Value `json:"userId"`
	XP           jsontext.Value `json:"xp"`
	Level        jsontext.Value `json:"level"`
	MessageCount jsontext.Value `json:"messageCount"`
	Tag          *string        `json:"tag"`
	Avatar       *string        `json:"avatar"`
	User         *lurkrUser     `json:"user"`
	Present      *bool          `json:"present"`
	LastUpdated  *string        `json:"lastUpdated"`
	Hidden       []string       `json:"hidden"`
}

type lurkrUser struct {
	Avatar        *string `json:"avatar"`
	Discriminator *string `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      *string `json:"username"`
}

// lurkrFile is the state of reading a file.
type lurkrFile struct {
	*jsonFile
	bare   bool // a list without an object around it
	tags   bool // members are written in the older way
	export bool // of Levelboard, or a page, whose curve is not known
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
	return l.jsonFile.list("levels", members(l.jsonFile, take))
}

func (l *lurkrFile) member(m *lurkrMember) (Row, Reason) {
	row, why := readGained(m.UserID, m.XP, m.Level)
	if why != "" {
		return row, why
	}
	if row.MessageCount, why = readCount(m.MessageCount); why != "" {
		return row, why
	}
	row.Hidden, _ = hidden.Parse(m.Hidden...)
	if m.Present != nil {
		row.Present, l.export = *m.Present, true
	}
	row.LastUpdated = readTime(orEmpty(m.LastUpdated))
	row.User = l.user(l.userOf(m))
	if m.User == nil {
		l.tags = true
	}
	if row.Shown != (level.Curve{}).LevelAt(row.XP) {
		l.misfits++
	}
	return row, ""
}

func (l *lurkrFile) userOf(m *lurkrMember) leaderboard.User {
	if m.User == nil {
		return tagged(orEmpty(m.Tag), m.Avatar)
	}
	return leaderboard.User{
		Avatar: m.User.Avatar, Discriminator: orEmpty(m.User.Discriminator), GlobalName: m.User.GlobalName, Username: orEmpty(m.User.Username),
	}
}

// arcaneMember reads a member of Arcane, whose XP is within the level, and whose messages nobody counted.
func (l *lurkrFile) arcaneMember(m *lurkrMember) (Row, Reason) {
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

// judge takes the curve of the source, and warns of a file that may be Arcane's: written in the older way, and a list alone or with levels
// that are not those of its XP.
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

// readTime returns zero for an invalid time: the member is imported all the same.
func readTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
