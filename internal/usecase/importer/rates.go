package importer

import (
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// unlike notes settings in another format than the source writes. It returns err if err says that the file is broken.
func (j *jsonFile) unlike(what string, err error) error {
	if err == nil {
		j.report.Proposal.refuse(what, "they are not written as this source writes them")
	}
	return err
}

// part returns a function that reads a small part into the variable that into points at, and notes a part in another format.
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

// listed returns a function that reads a list and calls take for each value in the source's format.
func listed[T any](j *jsonFile, what string, take func(*T)) func() error {
	return func() error {
		if kind := j.dec.PeekKind(); kind != '[' && kind != jsontext.KindInvalid {
			return j.unlike(what, j.skipValue())
		}
		return j.list(what, func() error {
			var t T
			fits, err := j.decode(&t)
			if err != nil || !fits {
				return j.unlike(what, err)
			}
			take(&t)
			return nil
		})
	}
}

// fields returns a function that reads an object of settings and calls the function of each. It notes a value of another type.
func (j *jsonFile) fields(what string, read map[string]func() error) func() error {
	return func() error {
		if kind := j.dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
			return j.unlike(what, j.skipValue())
		}
		return j.object(what, read)
	}
}

// number is a whole number, which a source may write with a fraction. The fraction is rounded down.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return errNotNumber
	}
	*n = number(math.Floor(max(-most, min(f, most)))) // larger numbers are invalid settings anyway
	return nil
}

var errNotNumber = errors.New("it is no number")

// milliseconds converts seconds, which may have a fraction.
func milliseconds(seconds float64) *int64 {
	return new(int64(math.Round(min(seconds, most/1000) * 1000)))
}

// rates are the rates of a message in a file.
type rates struct {
	bounds     []number // the minimum and the maximum XP
	least      *number
	most       *number
	interval   *int64 // milliseconds
	multiplier *float64
}

// propose takes the rates that the file has.
func (r *rates) propose(p *Proposal) {
	if r.least != nil && r.most != nil {
		r.bounds = []number{*r.least, *r.most}
	}
	if len(r.bounds) == 2 {
		p.take("XP per message", map[string]any{"xpPerMessageMin": int(r.bounds[0]), "xpPerMessageMax": int(r.bounds[1])})
	}
	if r.interval != nil {
		p.take("the cooldown", map[string]any{"xpGainInterval": *r.interval})
	}
	if r.multiplier != nil {
		p.take("the global multiplier", map[string]any{"xpGlobalMultiplier": *r.multiplier})
	}
}

type apiReward struct {
	Level number    `json:"level"`
	Stack *bool     `json:"stack"` // the API's answers lack it
	Roles []apiRole `json:"roles"`
}

type apiRole struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Color    *number `json:"color"`
	Position number  `json:"position"`
}

func (r *apiRole) role() guild.Role {
	role := guild.Role{ID: id.Role(r.ID), Name: r.Name, Position: int(r.Position)}
	if r.Color != nil {
		role.Color = new(int(*r.Color))
	}
	return role
}

// apiRewards reads the role rewards of a page of the API.
func (j *jsonFile) apiRewards() error {
	return listed(j, "roleRewards", func(r *apiReward) {
		for _, role := range r.Roles {
			j.report.Proposal.reward(int(r.Level), r.Stack == nil || *r.Stack, role.role())
		}
	})()
}
