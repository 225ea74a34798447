package guilds

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/properties"
)

// Given are the document's properties that a manager sets, as JSON.
type Given map[string]jsontext.Value

// Proposal is valid settings of one guild, made by Propose.
type Proposal struct{ settings guild.Settings }

// Settings returns the proposed settings.
func (p Proposal) Settings() guild.Settings { return p.settings }

// Propose replaces the given properties of the saved settings. The result must obey the rules of
// the operator's document (guild.Settings.With). If it does not, wrong lists the mistakes in given.
func Propose(saved guild.Settings, given Given) (p Proposal, wrong fault.List, err error) {
	document := []byte{'{'}
	written := 0
	for _, property := range properties.Table {
		if value, ok := given[property.Name]; ok && property.Section != "" {
			if written++; written > 1 {
				document = append(document, ',')
			}
			document = fmt.Appendf(document, "%q:%s", property.Name, value)
		}
	}
	if written != len(given) {
		return Proposal{}, wrong, fault.New(fault.Forbidden, "Something was sent that is not for a manager to set, so nothing was saved.")
	}
	p.settings, wrong = saved.With(append(document, '}'))
	return p, wrong, nil
}
