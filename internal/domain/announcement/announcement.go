// Package announcement holds what a guild announces: which events, where and in which words. It renders texts and does no I/O, and it
// imports nothing of a guild's settings, so that bots can use it as it is.
package announcement

import (
	"fmt"
	"slices"
	"unicode/utf8"

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

// Check calls wrong with the name and the broken rule of each property that is wrong, beyond what tags and types say.
// Secret.Check says where http is allowed.
func (a *Announcement) Check(wrong func(property, rule string)) {
	isBoard, name := a.Kind == Board, utf8.RuneCountInString(a.Name)
	url, text, known := "", "", []Event{LevelUp, PeriodOf, LevelDown, Removed, Returned, Reset}
	if a.URL != "" && !a.URL.IsShown() { // else an address that is stored takes its place
		url = a.URL.Check(func(string) bool { return true })
	}
	if a.Text != nil {
		text = checkText(*a.Text)
	}
	if a.Kind == Discord || a.Kind == Bot {
		known = known[:2]
	}
	for _, is := range []struct {
		property string
		broken   bool
		rule     string
	}{
		{"name", name < 1 || name > 100, "must have 1 to 100 characters"},
		{"kind", !slices.Contains([]Kind{Discord, Webhook, Bot, Board}, a.Kind), "must be discord, webhook, bot or board"},
		{"url", a.Kind == Bot && a.URL != "", "must be null or left out; the bot posts where the member wrote"},
		{"url", a.Kind != Bot && url != "", url},
		{"events", len(a.Events) == 0 && !isBoard, "must have at least one event"},
		{"text", text != "", text},
		{"top", isBoard && (a.Top < 3 || a.Top > 25), "must be a whole number from 3 to 25: how many members the board shows"},
		{"top", !isBoard && a.Top != 0, "must be 0 or left out; only a board has it"},
		{"period", !isBoard && a.Period != nil, "must be null or left out; only a board has it"},
		{
			"period", isBoard && a.Period != nil && !slices.Contains([]string{"day", "week", "month", "season"}, *a.Period),
			"must be day, week, month, season, or null for all time",
		},
	} {
		if is.broken {
			wrong(is.property, is.rule)
		}
	}
	for i, e := range a.Events {
		if name := fmt.Sprintf("events[%d]", i); !slices.Contains(known, e) {
			wrong(name, "must be levelup or period, or for a webhook also leveldown, removed, returned or reset")
		} else if slices.Contains(a.Events[:i], e) {
			wrong(name, fmt.Sprintf("repeats %s; remove one of them", e))
		}
	}
	for i, l := range a.Levels {
		if name := fmt.Sprintf("levels[%d]", i); l < 1 || l > 10000 {
			wrong(name, "must be a whole number from 1 to 10000")
		} else if slices.Contains(a.Levels[:i], l) {
			wrong(name, fmt.Sprintf("repeats level %d; remove one of them", l))
		}
	}
}

func checkText(text string) string {
	if n := utf8.RuneCountInString(text); n < 1 || n > 1800 {
		return "must have 1 to 1800 characters, or be null for each event's own text"
	}
	if _, _, err := render(text, nil); err != nil {
		return err.Error()
	}
	return ""
}
