package importer

import (
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

func (j *jsonFile) readAmari() error {
	total := 0
	err := j.object("the file", map[string]func() error{
		"id":          j.guildID,
		"total_count": func() error { _, err := j.decode(&total); return err },
		"data":        func() error { return j.list("data", j.members(j.amariMember)) },
	})
	j.report.Proposal.preset(level.PresetAmari)
	j.amariTotal = max(j.amariTotal, total)
	return err
}

// amariMember reads a member. In a weekly leaderboard, members have no level.
func (j *jsonFile) amariMember(m *jsonMember) (Row, Reason) {
	j.amariRead++
	row, why := m.row(memberNames{id: "id", xp: "exp", level: "level"}) // exp is sometimes text
	if why == "" && row.Shown == noLevel {
		why = ReasonNoLevel
	}
	row.User = j.user(tagged(orEmpty(m.text("username")), nil))
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

// guildID notes the guild whose id the file has.
func (j *jsonFile) guildID() error {
	var g id.Guild
	_, err := j.decode(&g)
	j.about(g)
	return err
}

// judgeAmari warns of an incomplete leaderboard.
func (r *Reader) judgeAmari() {
	if r.amariTotal > r.amariRead {
		r.report.warn("Amari's leaderboard has %d members, and the files have %d of them.", r.amariTotal, r.amariRead)
	}
}
