package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// state is what a file keeps of a guild.
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

// load reads the guild's file. One that cannot be read is as good as none, but for users who stay hidden.
func (g *guild) load() {
	text, err := os.ReadFile(g.path())
	if err == nil {
		err = json.Unmarshal(text, &g.state)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		g.log.Error("the guild's file cannot be read: the bot makes a new key, and users whom it hid stay hidden", "error", err)
		g.state = state{}
	}
	if g.state.Since.IsZero() {
		g.state.Since = time.Now()
	}
	if g.state.Hidden == nil {
		g.state.Hidden = map[string]bool{}
	}
}

func (g *guild) path() string { return filepath.Join(g.k.Dir, "guild-"+g.id+".json") }

// save changes the state and writes it.
func (g *guild) save(change func(*state)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.state)
	if n := len(g.state.Announced) - mostAnnounced; n > 0 {
		g.state.Announced = g.state.Announced[n:]
	}
	text, err := json.Marshal(g.state)
	if err == nil {
		err = os.WriteFile(g.path()+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(g.path()+".new", g.path())
	}
	if err != nil {
		g.log.Error("the guild's file cannot be written; check LEVELBOARD_BOT_DATA", "error", fmt.Errorf("write: %w", err))
	}
}
