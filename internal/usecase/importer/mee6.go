package importer

import (
	"cmp"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// mee6PageSize is the number of players on a full page.
const mee6PageSize = 1000

type mee6Reward struct {
	Rank number  `json:"rank"`
	Role apiRole `json:"role"`
}

// page is a page of MEE6's leaderboard in the files.
type page struct {
	number, players int
}

func (j *jsonFile) readMEE6() error {
	var r rates
	number := -1
	err := j.object("the file", map[string]func() error{
		"players": func() error { return j.list("players", j.members(j.mee6Member)) },
		"guild":   j.guildObject,
		"page": func() error {
			fits, err := j.decode(&number)
			if !fits {
				number = -1
			}
			return err
		},
		"role_rewards":   j.mee6Rewards,
		"xp_per_message": part(j, "xp_per_message", &r.bounds),
		"xp_rate":        part(j, "xp_rate", &r.multiplier),
	})
	j.report.Proposal.preset(level.PresetMEE6)
	r.propose(&j.report.Proposal)
	if number >= 0 {
		j.pages = append(j.pages, page{number, j.found().Rows})
	}
	return err
}

func (j *jsonFile) mee6Member(m *jsonMember) (Row, Reason) {
	row, why := m.row(memberNames{"id", "xp", "level", "message_count"})
	j.about(id.Guild(orEmpty(m.text("guild_id"))))
	row.User = j.user(leaderboard.User{Username: orEmpty(m.text("username")), Discriminator: orEmpty(m.text("discriminator")), Avatar: m.text("avatar")})
	return row, why
}

func (j *jsonFile) mee6Rewards() error {
	return listed(j, "role rewards", func(r *mee6Reward) {
		if r.Role.Color != nil && *r.Role.Color == 0 { // 0 means no color
			r.Role.Color = nil
		}
		j.report.Proposal.reward(int(r.Rank), true, r.Role.role())
	})()
}

// judgePages warns of pages of MEE6 that seem to be missing. Pages are numbered from 0, and no page has the total.
func (r *Reader) judgePages() {
	slices.SortFunc(r.pages, func(a, b page) int { return cmp.Compare(a.number, b.number) })
	next := 0
	for _, p := range r.pages {
		if p.number > next {
			r.report.warn("Page %d of MEE6's leaderboard is missing.", next)
		}
		next = max(next, p.number+1)
	}
	if n := len(r.pages); n > 0 && r.pages[n-1].players >= mee6PageSize {
		r.report.warn("The last page of MEE6's leaderboard is full, so there is probably another one, page %d.", next)
	}
}
