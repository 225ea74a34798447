package importer

import (
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// unlike notes settings that are not written as the source writes them, unless err says that the file is broken.
func (j *jsonFile) unlike(what string, err error) error {
	if err == nil {
		j.report.Proposal.refuse(what, "they are not written as this source writes them")
	}
	return err
}

// part returns a function that reads a small part into what into points at, and notes one that is not written as the source writes it.
func part[T any](j *jsonFile, what string, into *T) func() error {
	return func() error {
		var value T
		fits, err := j.decode(&value)
		if err != nil || !fits {
			return j.unlike(what, err)
		}
		*into = value
		return nil
	}
}

// rates are what a message gives, as far as a file has it.
type rates struct {
	bounds     []int // the least and the most XP
	least      *int
	most       *int
	interval   *int64 // milliseconds
	multiplier *float64
}

// propose takes them.
func (r *rates) propose(p *Proposal) {
	if r.least != nil && r.most != nil {
		r.bounds = []int{*r.least, *r.most}
	}
	if len(r.bounds) == 2 {
		p.perMessage("XP per message", r.bounds[0], r.bounds[1])
	}
	if r.interval != nil {
		p.interval("the cooldown", *r.interval)
	}
	if r.multiplier != nil {
		p.multiplier("the global multiplier", *r.multiplier)
	}
}

type apiReward struct {
	Level int   `json:"level"`
	Stack *bool `json:"stack"` // not in the API's answers
	Roles []struct {
		ID       id.Role `json:"id"`
		Name     string  `json:"name"`
		Color    *int    `json:"color"`
		Position int     `json:"position"`
	} `json:"roles"`
}

// apiRewards reads the role rewards of a page of the API.
func (j *jsonFile) apiRewards() error {
	var rewards []apiReward
	fits, err := j.decode(&rewards)
	if err != nil || !fits {
		return j.unlike("roleRewards", err)
	}
	for _, r := range rewards {
		for _, role := range r.Roles {
			j.report.Proposal.reward(r.Level, r.Stack == nil || *r.Stack, guild.Role(role))
		}
	}
	return nil
}
