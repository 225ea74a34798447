package announcement

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Check calls wrong with the name and the broken rule of each property that is wrong, beyond what tags and types say.
// Secret.Check says where http is allowed.
func (a *Announcement) Check(wrong func(property, rule string)) {
	isBoard := a.Kind == Board
	if n := utf8.RuneCountInString(a.Name); n < 1 || n > 100 {
		wrong("name", "must have 1 to 100 characters")
	}
	if !slices.Contains([]Kind{Discord, Webhook, Bot, Board}, a.Kind) {
		wrong("kind", "must be discord, webhook, bot or board")
	}
	switch {
	case a.Kind == Bot && a.URL != "":
		wrong("url", "must be null or left out; the bot posts where the member wrote")
	case a.URL != "" && !a.URL.IsShown(): // else an address that is stored takes its place
		if rule := a.URL.Check(func(string) bool { return true }); rule != "" {
			wrong("url", rule)
		}
	}
	if len(a.Events) == 0 && !isBoard {
		wrong("events", "must have at least one event")
	}
	known := []Event{LevelUp, PeriodOf, LevelDown, Removed, Returned, Reset}
	if a.Kind == Discord || a.Kind == Bot {
		known = known[:2]
	}
	for i, e := range a.Events {
		if name := fmt.Sprintf("events[%d]", i); !slices.Contains(known, e) {
			wrong(name, "must be levelup or period, or for a webhook also leveldown, removed, returned or reset")
		} else if slices.Contains(a.Events[:i], e) {
			wrong(name, fmt.Sprintf("repeats %s; remove one of them", e))
		}
	}
	if rule := a.checkText(); rule != "" {
		wrong("text", rule)
	}
	for i, l := range a.Levels {
		if name := fmt.Sprintf("levels[%d]", i); l < 1 || l > 10000 {
			wrong(name, "must be a whole number from 1 to 10000")
		} else if slices.Contains(a.Levels[:i], l) {
			wrong(name, fmt.Sprintf("repeats level %d; remove one of them", l))
		}
	}
	switch {
	case isBoard && (a.Top < 3 || a.Top > 25):
		wrong("top", "must be a whole number from 3 to 25: how many members the board shows")
	case !isBoard && a.Top != 0:
		wrong("top", "must be 0 or left out; only a board has it")
	}
	switch {
	case !isBoard && a.Period != nil:
		wrong("period", "must be null or left out; only a board has it")
	case isBoard && a.Period != nil && !slices.Contains([]string{"day", "week", "month", "season"}, *a.Period):
		wrong("period", "must be day, week, month, season, or null for all time")
	}
}

func (a *Announcement) checkText() string {
	if a.Text == nil {
		return ""
	}
	if n := utf8.RuneCountInString(*a.Text); n < 1 || n > 1800 {
		return "must have 1 to 1800 characters, or be null for each event's own text"
	}
	if _, _, err := render(*a.Text, nil); err != nil {
		return err.Error()
	}
	return ""
}
