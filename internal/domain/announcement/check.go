package announcement

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The bounds of what an announcement has.
const (
	maxName          = 100
	maxText          = 1800
	minTop, maxTop   = 3, 25
	minLevel, maxLvl = 1, 10000
)

// Check calls wrong with the name and the broken rule of each property that is wrong, beyond what tags and types say.
// Secret.Check says where http is allowed.
func (a *Announcement) Check(wrong func(property, rule string)) {
	if n := utf8.RuneCountInString(a.Name); n < 1 || n > maxName {
		wrong("name", "must have 1 to 100 characters")
	}
	if rule := a.checkURL(); rule != "" {
		wrong("url", rule)
	}
	a.checkEvents(wrong)
	if a.Text != nil {
		if rule := checkText(*a.Text); rule != "" {
			wrong("text", rule)
		}
	}
	for i, l := range a.Levels {
		name := fmt.Sprintf("levels[%d]", i)
		if l < minLevel || l > maxLvl {
			wrong(name, "must be a whole number from 1 to 10000")
		} else if slices.Contains(a.Levels[:i], l) {
			wrong(name, fmt.Sprintf("repeats level %d; remove one of them", l))
		}
	}
	isBoard := a.Kind == Board
	if isBoard && (a.Top < minTop || a.Top > maxTop) {
		wrong("top", "must be a whole number from 3 to 25: how many members the board shows")
	}
	if !isBoard && a.Top != 0 {
		wrong("top", "must be 0 or left out; only a board has it")
	}
	switch {
	case !isBoard && a.Period != nil:
		wrong("period", "must be null or left out; only a board has it")
	case isBoard && a.Period != nil && !slices.Contains([]string{"day", "week", "month", "season"}, *a.Period):
		wrong("period", "must be day, week, month, season, or null for all time")
	}
}

func (a *Announcement) checkURL() string {
	switch {
	case a.Kind == Bot && a.URL != "":
		return "must be null or left out; the bot posts where the member wrote"
	case a.Kind == Bot || a.URL == "" || a.URL.IsShown():
		return "" // an address that is stored takes its place
	}
	return a.URL.Check(func(string) bool { return true })
}

func (a *Announcement) checkEvents(wrong func(property, rule string)) {
	if len(a.Events) == 0 && a.Kind != Board {
		wrong("events", "must have at least one event")
	}
	for i, e := range a.Events {
		name := fmt.Sprintf("events[%d]", i)
		switch {
		case slices.Contains(a.Events[:i], e):
			wrong(name, fmt.Sprintf("repeats %s; remove one of them", e))
		case (a.Kind == Discord || a.Kind == Bot) && e != LevelUp && e != PeriodOf:
			wrong(name, fmt.Sprintf("must be levelup or period; %s is for a webhook", e))
		}
	}
}

// checkText says what is wrong with a text, or "".
func checkText(text string) string {
	if n := utf8.RuneCountInString(text); n < 1 || n > maxText {
		return "must have 1 to 1800 characters, or be null for each event's own text"
	}
	_, err := Parse(text)
	if wrong, ok := errors.AsType[*SyntaxError](err); ok {
		return wrong.Error()
	}
	return ""
}
