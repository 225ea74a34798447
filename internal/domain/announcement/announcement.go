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

// Announcement is one announcement of a guild's settings. URL is a secret.
type Announcement struct {
	ID            string        `json:"id"`
	Name          string        `json:"name"`
	Kind          Kind          `json:"kind"`
	URL           Secret        `json:"url"`
	Events        []Event       `json:"events"`
	Text          *string       `json:"text"` // nil is each event's own text
	From          level.Level   `json:"from"`
	Every         int           `json:"every"`
	Levels        []level.Level `json:"levels"`
	OnlyWithRoles bool          `json:"onlyWithRoles"`
	Mention       bool          `json:"mention"`
	Period        *string       `json:"period"` // of a Board; nil is all time
	Top           int           `json:"top"`    // of a Board
}

// On reports whether the announcement is for an event.
func (a *Announcement) On(e Event) bool { return a.Kind != Board && slices.Contains(a.Events, e) }

// Wants reports whether a level-up from previous to reached is announced: one level of the jump must be at least From and in Levels, or,
// without Levels, a multiple of Every. rewards are the levels of the guild's role rewards.
func (a *Announcement) Wants(previous, reached level.Level, rewards []level.Level) bool {
	within := func(l level.Level) bool { return previous < l && l <= reached }
	if !a.On(LevelUp) || a.OnlyWithRoles && !slices.ContainsFunc(rewards, within) {
		return false
	}
	if len(a.Levels) > 0 {
		return slices.ContainsFunc(a.Levels, func(l level.Level) bool { return within(l) && l >= a.From })
	}
	every := level.Level(max(a.Every, 1))
	return reached/every*every >= max(previous+1, a.From)
}
