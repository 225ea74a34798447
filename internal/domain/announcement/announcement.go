// Package announcement holds what a guild announces: which events, where and in which words. It renders texts and does no I/O, and it
// imports nothing of a guild's settings, so that bots can use it as it is.
package announcement

import (
	"slices"

	"levelboard/internal/domain/level"
)

// Kind says where an announcement goes.
type Kind string

// The kinds.
const (
	Discord Kind = "discord" // a message to a Discord-compatible webhook
	Webhook Kind = "webhook" // an event as signed JSON
	Bot     Kind = "bot"     // text and conditions of what the Discord bot posts
	Board   Kind = "board"   // one Discord message that shows the top of a board
)

// Event is the name of an event of the guild's stream.
type Event string

// The events that every kind but Board knows, and those that only a Webhook gets.
const (
	LevelUp  Event = "levelup"
	PeriodOf Event = "period"

	LevelDown Event = "leveldown"
	Removed   Event = "removed"
	Returned  Event = "returned"
	Reset     Event = "reset"
)

// Announcement is one announcement of a guild's settings, as its document has it.
type Announcement struct {
	ID            string        `json:"id" optional:"true"` // a UUID
	Name          string        `json:"name"`
	Kind          Kind          `json:"kind"`
	URL           Secret        `json:"url" optional:"true" null:"true"`
	Events        []Event       `json:"events" optional:"true" items:"0..6"`
	Text          *string       `json:"text" optional:"true"` // nil is each event's own text
	From          level.Level   `json:"from" optional:"true" bounds:"1..10000"`
	Every         int           `json:"every" optional:"true" bounds:"1..10000"`
	Levels        []level.Level `json:"levels" optional:"true" items:"0..100"`
	OnlyWithRoles bool          `json:"onlyWithRoles" optional:"true"`
	Mention       bool          `json:"mention" optional:"true"`
	Period        *string       `json:"period" optional:"true"` // of a Board; nil is all time
	Top           int           `json:"top" optional:"true" bounds:"0..25"`
}

// SetDefaults sets what an announcement has that is left out.
func (a *Announcement) SetDefaults() {
	a.Events, a.From, a.Every, a.Mention = []Event{LevelUp, PeriodOf}, 1, 1, true
}

// Complete puts a valid announcement in the form in which it is kept. It writes nothing to one that is so already.
func (a *Announcement) Complete(newID func() string) {
	if a.ID == "" {
		a.ID = newID()
	}
	if a.Kind == Board && a.Events != nil {
		a.Events = nil
	}
}

// On reports whether the announcement is for an event.
func (a *Announcement) On(e Event) bool { return a.Kind != Board && slices.Contains(a.Events, e) }

// Wants reports whether a level-up from previous to reached, which gives roles, is announced: one level of the jump must be at least From and in
// Levels, or, without Levels, a multiple of Every.
func (a *Announcement) Wants(previous, reached level.Level, roles []string) bool {
	if !a.On(LevelUp) || a.OnlyWithRoles && len(roles) == 0 {
		return false
	}
	if len(a.Levels) > 0 {
		return slices.ContainsFunc(a.Levels, func(l level.Level) bool { return previous < l && l <= reached && l >= a.From })
	}
	every := level.Level(max(a.Every, 1))
	return reached/every*every >= max(previous+1, a.From)
}
