package importer

import (
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

type amariMember struct {
	ID       jsontext.Value `json:"id"`
	Username *string        `json:"username"`
	Level    jsontext.Value `json:"level"`
	Exp      jsontext.Value `json:"exp"` // in total; sometimes as text
}

func (j *jsonFile) readAmari() error {
	total := 0
	err := j.object("the file", map[string]func() error{
		"id":          j.guildID,
		"total_count": func() error { _, err := j.decode(&total); return err },
		"data":        func() error { return j.list("data", members(j, j.amariMember)) },
	})
	j.report.Proposal.preset(level.PresetAmari)
	j.amariTotal = max(j.amariTotal, total)
	return err
}

// amariMember reads a member. One without a level is of a weekly leaderboard.
func (j *jsonFile) amariMember(m *amariMember) (Row, Reason) {
	j.amariRead++
	row, why := readID(m.ID)
	if why != "" {
		return row, why
	}
	if row.Shown = readLevel(m.Level); row.Shown == noLevel {
		return row, ReasonNoLevel
	}
	xp, why := readWhole(m.Exp)
	row.gain(xp)
	row.User = j.user(tagged(orEmpty(m.Username), nil))
	return row, why
}

func (j *jsonFile) skipAmariWeekly() error {
	return j.object("the file", map[string]func() error{"id": j.guildID})
}

type amariReward struct {
	Role  string `json:"roleID"`
	Level number `json:"level"`
}

func (j *jsonFile) readAmariRewards() error {
	return j.object("the file", map[string]func() error{"data": listed(j, "role rewards", func(r *amariReward) {
		j.report.Proposal.reward(int(r.Level), true, guild.Role{ID: id.Role(r.Role)})
	})})
}

// guildID notes the guild of an id.
func (j *jsonFile) guildID() error {
	var g id.Guild
	_, err := j.decode(&g)
	j.about(g)
	return err
}

// judgeAmari warns of a leaderboard that is not whole.
func (r *Reader) judgeAmari() {
	if r.amariTotal > r.amariRead {
		r.report.warn("Amari's leaderboard has %d members, and the files have %d of them.", r.amariTotal, r.amariRead)
	}
}
