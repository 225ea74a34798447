package keeper

import (
	"encoding/json"
	"time"
)

// state is what the store keeps of a guild.
type state struct {
	KeyID    string `json:"keyId,omitempty"`
	Key      string `json:"key,omitempty"` // the API key that the bot made itself
	KeyOwner string `json:"keyOwner,omitempty"`

	Since     time.Time       `json:"since"`           // the first start: older periods are not announced
	Event     string          `json:"event,omitempty"` // the last event that was applied
	Announced []string        `json:"announced,omitempty"`
	Hidden    map[string]bool `json:"hidden,omitempty"` // users whom the bot hid
}

// mostAnnounced is how many periods are remembered as announced.
const mostAnnounced = 100

// load reads the guild's state. One that cannot be read is as good as none, but for users who stay hidden.
func (g *guild) load() {
	text, err := g.k.Store.State(g.id)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &g.state)
	}
	if err != nil {
		g.log.Error("what is stored of the guild cannot be read: the bot makes a new key, and users whom it hid stay hidden", "error", err)
		g.state = state{}
	}
	if g.state.Since.IsZero() {
		g.state.Since = time.Now()
	}
	if g.state.Hidden == nil {
		g.state.Hidden = map[string]bool{}
	}
}

// save changes the state and writes it.
func (g *guild) save(change func(*state)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.state)
	g.state.Announced = g.state.Announced[max(0, len(g.state.Announced)-mostAnnounced):]
	text, err := json.Marshal(g.state)
	if err == nil {
		err = g.k.Store.SaveState(g.id, string(text))
	}
	if err != nil {
		g.log.Error("what the bot must remember of the guild cannot be written; check LEVELBOARD_BOT_DATA", "error", err)
	}
}
