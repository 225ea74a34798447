package guildsettings

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

// Given is what a manager wants to set: properties of the guild's document, as JSON.
type Given map[string]jsontext.Value

// own are the properties that are a manager's. The rest is the operator's, or their bot's, and mirrors the chat platform:
// name, icon and memberCount, so that no community can pose as another; and above all ownerId and adminIds, which decide who
// manages the guild even when the platform says otherwise. A manager who could write them could take the guild from its owner,
// or keep themselves in after they lost their rights.
var own = []string{
	"enabled", "visibility", "embedding", "vanity", "curve", "xpGainInterval", "xpPerMessageMin", "xpPerMessageMax", "xpGlobalMultiplier",
	"ignoredChannelIds", "ignoredRoleIds", "ignoredUserIds", "multipliers", "roleRewards", "timeZone", "periods", "seasons",
	"announcements",
}

// Proposal is valid settings of one guild, which only Propose makes.
type Proposal struct{ settings guild.Settings }

// Settings returns what would be saved.
func (p Proposal) Settings() guild.Settings { return p.settings }

// Propose puts what is given in the place of what is saved, and keeps the rest. The result is held to the rules of the operator's document
// (guild.Settings.With). When it cannot be saved, wrong says what is wrong in what was given.
func Propose(saved guild.Settings, given Given) (p Proposal, wrong fault.List, err error) {
	properties := []byte{'{'}
	written := 0
	for _, name := range own {
		if value, ok := given[name]; ok {
			if written++; written > 1 {
				properties = append(properties, ',')
			}
			properties = fmt.Appendf(properties, "%q:%s", name, value)
		}
	}
	if written != len(given) {
		return Proposal{}, wrong, fault.New(fault.Forbidden, "Something was sent that is not for a manager to set, so nothing was saved.")
	}
	p.settings, wrong = saved.With(append(properties, '}'))
	return p, wrong, nil
}
