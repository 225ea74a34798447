package guild

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// ErrCrossed is the cause of the fault for an xpPerMessageMin above xpPerMessageMax.
var ErrCrossed = errors.New("the least XP for a message is above the most")

// check notes the mistakes that tags and types cannot find. It skips a check that needs a value already noted as wrong.
func (s *Settings) check(wrong *fault.List) {
	if s.Icon != nil && !ValidHash(*s.Icon) {
		wrong.Add(notIcon())
	}
	if s.XPPerMessageMin > s.XPPerMessageMax && !wrong.Has("xpPerMessageMin") && !wrong.Has("xpPerMessageMax") {
		wrong.Add(fault.At("xpPerMessageMin", "must not be above xpPerMessageMax, but %d is above %d; set both", s.XPPerMessageMin, s.XPPerMessageMax).
			Because(ErrCrossed))
	}
	checkOnce(wrong, "adminIds", "", s.AdminIDs, func(u id.User) id.User { return u })
	checkOnce(wrong, "ignoredChannelIds", "", s.IgnoredChannelIDs, func(c id.Channel) id.Channel { return c })
	checkOnce(wrong, "ignoredRoleIds", "", s.IgnoredRoleIDs, func(r id.Role) id.Role { return r })
	checkOnce(wrong, "ignoredUserIds", "", s.IgnoredUserIDs, func(u id.User) id.User { return u })
	s.checkMultipliers(wrong)
	s.checkRewards(wrong)
	if _, err := loadZone(s.TimeZone); err != nil && !wrong.Has("timeZone") {
		wrong.Add(fault.At("timeZone", "must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC").Because(err))
	}
	s.checkPeriods(wrong)
	s.checkSeasons(wrong)
	s.checkAnnouncements(wrong)
}

func (s *Settings) checkAnnouncements(wrong *fault.List) {
	rows := make(map[string]bool)
	for i := range s.Announcements {
		path := fmt.Sprintf("announcements[%d]", i)
		var given UUID
		if err := given.UnmarshalText([]byte(s.Announcements[i].ID)); s.Announcements[i].ID != "" && err != nil {
			wrong.At(path+".id", "%s", err)
		} else {
			checkRow(wrong, path, given, rows)
		}
		s.Announcements[i].Check(func(property, rule string) {
			if !wrong.Has(path + "." + property) {
				wrong.At(path+"."+property, "%s", rule)
			}
		})
	}
}

func (s *Settings) checkMultipliers(wrong *fault.List) {
	rows := make(map[string]bool)
	channels, roles := make(map[id.Channel]int), make(map[id.Role]int)
	for i, m := range s.Multipliers {
		path := fmt.Sprintf("multipliers[%d]", i)
		checkRow(wrong, path, m.ID, rows)
		checkChannels(wrong, path+".targets", m.Channels)
		checkRoles(wrong, path+".targets", m.Roles)
		for j, c := range m.Channels {
			checkMultiplied(wrong, i, j, c.ID, channels)
		}
		for j, r := range m.Roles {
			checkMultiplied(wrong, i, j, r.ID, roles)
		}
	}
}

// checkMultiplied notes a channel or a role that an earlier multiplier names; in has the multiplier of each target so far.
func checkMultiplied[T ~string](wrong *fault.List, multiplier, target int, named T, in map[T]int) {
	other, ok := in[named]
	if ok && other != multiplier && named != "" {
		wrong.At(fmt.Sprintf("multipliers[%d].targets[%d].id", multiplier, target), "repeats %s of multipliers[%d]; remove one of them", named, other)
	}
	if !ok {
		in[named] = multiplier
	}
}

// maxRewardRoles is the maximum number of roles of a guild.
const maxRewardRoles = 250

func (s *Settings) checkRewards(wrong *fault.List) {
	rows := make(map[string]bool)
	for i, r := range s.RoleRewards {
		path := fmt.Sprintf("roleRewards[%d]", i)
		checkRow(wrong, path, r.ID, rows)
		checkRoles(wrong, path+".roles", r.Roles)
	}
	if n := len(s.RewardRoles()); n > maxRewardRoles {
		wrong.At("roleRewards", "must name at most %d different roles, as many as a guild can have, not %d", maxRewardRoles, n)
	}
}

func (s *Settings) checkPeriods(wrong *fault.List) {
	for i, kind := range s.Periods {
		path := fmt.Sprintf("periods[%d]", i)
		if kind != period.Daily && kind != period.Weekly && kind != period.Monthly && !wrong.Has(path) {
			wrong.At(path, "must be %q, %q or %q", period.Daily, period.Weekly, period.Monthly)
		}
	}
	checkOnce(wrong, "periods", "", s.Periods, func(k period.Kind) period.Kind { return k })
}

// The bounds of a season.
const (
	maxSeasonName = 100 // characters
	maxSeasonDays = 400
)

func (s *Settings) checkSeasons(wrong *fault.List) {
	for i, season := range s.Seasons {
		path := fmt.Sprintf("seasons[%d]", i)
		if !period.ValidSeasonID(season.ID) && !wrong.Has(path+".id") {
			wrong.At(path+".id", "must be 1 to 32 of a to z, 0 to 9 and -")
		}
		if utf8.RuneCountInString(season.Name) > maxSeasonName {
			wrong.At(path+".name", "must be at most %d characters long", maxSeasonName)
		}
		days := season.End - season.Start
		if (days < 1 || days > maxSeasonDays) && !wrong.Has(path+".start") && !wrong.Has(path+".end") {
			wrong.At(path+".end", "must be 1 to %d days after start, which is %s; it is the first day after the season", maxSeasonDays, season.Start)
		}
		for j, other := range s.Seasons[:i] {
			if season.ID == other.ID && !wrong.Has(path+".id") {
				wrong.At(path+".id", "repeats %s; give each season an id of its own", season.ID)
			}
			if season.Start < other.End && other.Start < season.End && !wrong.Has(path) && !wrong.Has(fmt.Sprintf("seasons[%d]", j)) {
				wrong.At(path, "overlaps seasons[%d], whose start is %s and whose end is %s; move one of them", j, other.Start, other.End)
			}
		}
	}
}

func checkChannels(wrong *fault.List, path string, list []Channel) {
	checkOnce(wrong, path, ".id", list, func(c Channel) id.Channel { return c.ID })
}

func checkRoles(wrong *fault.List, path string, list []Role) {
	checkOnce(wrong, path, ".id", list, func(r Role) id.Role { return r.ID })
}

// checkOnce notes each item of a list whose key an earlier one has; at is the key's path in the item. An empty key was noted when it was read.
func checkOnce[T any, K ~string](wrong *fault.List, path, at string, list []T, key func(T) K) {
	seen := make(map[K]bool)
	for i, item := range list {
		k, place := key(item), fmt.Sprintf("%s[%d]%s", path, i, at)
		if seen[k] && k != "" && !wrong.Has(place) {
			wrong.At(place, "repeats %s; remove one of them", k)
		}
		seen[k] = true
	}
}

// checkRow notes an id that an earlier row of its list has, ignoring case.
func checkRow(wrong *fault.List, path string, row UUID, seen map[string]bool) {
	key := strings.ToLower(string(row))
	if seen[key] && key != "" {
		wrong.At(path+".id", "repeats an id of the same list; leave it out to get a new one")
	}
	seen[key] = true
}
