// Package properties defines in one place how people see each property of a guild's document: its label, who may set it, and how a form
// shows and reads its value. The settings page with its errors and conflicts, `levelboard guild get` and docs/settings.md come from Table.
package properties

import (
	"cmp"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
)

// Property is a property of the document, or of a row of a list in it.
type Property struct {
	Name    string // in the document; the names of its form fields begin with it
	Label   string
	Hint    string // beside its field; for a box, what ticking it does
	Section string // the ID of a section of the settings page; empty if only the operator sets the property
	Kind    Kind
}

// Section is a part of the settings page.
type Section struct {
	ID, Title, Intro string
	Grid             bool // fields stand next to each other
}

// Sections are the parts of the settings page, in its order.
var Sections = []Section{
	{ID: "leaderboard", Title: "Leaderboard"},
	{ID: "curve", Title: "Curve", Intro: "How much XP each level needs. A change updates every member's level immediately; XP stays the same."},
	{ID: "xp", Title: "XP for messages", Grid: true},
	{ID: "rewards", Title: "Role rewards"},
	{ID: "multipliers", Title: "Multipliers"},
	{ID: "ignored", Title: "Ignored", Grid: true},
	{ID: "periods", Title: "Period leaderboards", Intro: "Rank members by the XP they gain in a day, week, month or custom season. " +
		"When a period ends, its leaderboard is final. Counting starts when you enable the first one."},
	{ID: "announcements", Title: "Announcements", Intro: "Level-ups and winners, posted for you. Most need only the address of a webhook: " +
		"in Discord, open a channel's settings, Integrations, Webhooks, New Webhook, Copy Webhook URL."},
}

const ignoredHint = "One ID per line; names after an ID are not saved. "

// Table has every property of the document except the id, in the order of the page. Only the operator, or their bot, sets what
// mirrors the chat platform: name, icon and memberCount, since no community may pose as another, and ownerId and adminIds. These
// two decide who manages the guild, even against the platform: a manager who could set them could take the guild from its owner.
var Table = []Property{
	{Name: "name", Label: "Name", Kind: text{}},
	{Name: "icon", Label: "Icon", Kind: text{}},
	{Name: "memberCount", Label: "Member count", Kind: number{}},
	{Name: "ownerId", Label: "Owner", Kind: text{}},
	{Name: "adminIds", Label: "Administrators", Kind: ids{}},
	{Name: "auditIncrementsFrom", Label: "Recorded increments from", Kind: number{}},

	{"enabled", "Leveling", "Enable leveling: messages earn XP, and the leaderboard is available", "leaderboard", box{}},
	{"visibility", "Leaderboard visibility", "", "leaderboard", choice{radio: true, Options: []Option{
		{string(guild.Public), "Public: everyone can see it"}, {string(guild.Private), "Private: only members who are signed in"},
	}}},
	{"embedding", "Embedding", "Allow other sites to embed the top of the leaderboard while it is public", "leaderboard", box{}},
	{
		"vanity", "Short name", "2 to 32 letters and digits for the leaderboard's address. Optional. “Check and preview” shows whether it is available.",
		"leaderboard", text{lower: true, optional: true},
	},

	{"curve", "Curve", "", "curve", curve{Options: []Option{
		{level.PresetDefault, "Default"}, {level.PresetAmari, "Amari: fast, for quiet communities"}, {level.PresetMEE6, "MEE6: slow, for busy communities"},
		{OwnCurve, "Custom: XP at level n = a + b·n + c·n² + d·n³ + e·n⁴"},
	}}},

	{"xpPerMessageMin", "Minimum XP per message", "1 to 1000. Each message earns a random amount from the minimum to the maximum.", "xp", number{whole: true}},
	{"xpPerMessageMax", "Maximum XP per message", "1 to 1000.", "xp", number{whole: true}},
	{"xpGainInterval", "XP cooldown", "10 seconds to 1 day. A member earns XP at most once in this time.", "xp", cooldown{}},
	{"xpGlobalMultiplier", "Global multiplier", "0 to 5. 1 is normal, 2 is double XP.", "xp", number{}},

	{"roleRewards", "Role rewards", "Members who reach the level get the roles. Enter one role per line: the ID, then the name.", "rewards", Rows{
		Noun: "Reward", Add: []Option{{"add-reward", "Add reward"}}, added: func(string) any { return map[string]bool{"stack": true} },
		Fields: []Property{
			{Name: "id", Label: "ID", Kind: hidden{}},
			{Name: "level", Label: "Level", Kind: number{whole: true}},
			{Name: "roles", Label: "Roles", Kind: targets{}},
			{Name: "stack", Label: "Keep when a higher reward is reached", Kind: box{}},
		},
		inWords: func(w map[string]string) string {
			if w["stack"] == on {
				return "level " + w["level"] + ": " + w["roles"]
			}
			return "level " + w["level"] + ": " + w["roles"] + " (until the next reward)"
		},
	}},
	{"multipliers", "Multipliers", "More or less XP in channels or for roles: 0 (none) to 5. If several roles match, the highest applies. " +
		"Enter one channel or role per line: the ID, then the name.", "multipliers", Rows{
		Noun: "Multiplier", Add: []Option{{"add-multiplier Channel", "Add channel multiplier"}, {"add-multiplier Role", "Add role multiplier"}},
		added: func(of string) any {
			return map[string]string{"type": cmp.Or(of, string(guild.ChannelMultiplier))}
		},
		Fields: []Property{
			{Name: "id", Label: "ID", Kind: hidden{}},
			{Name: "type", Label: "Applies to", Kind: choice{Options: []Option{{string(guild.ChannelMultiplier), "Channels"}, {string(guild.RoleMultiplier), "Roles"}}}},
			{Name: "multiplier", Label: "Multiplier", Kind: number{}},
			{Name: "targets", Label: "Channels or roles", Kind: targets{byType: true}},
		},
		inWords: func(w map[string]string) string {
			return w["multiplier"] + " for the " + w["type"] + " " + w["targets"]
		},
	}},

	{"ignoredChannelIds", "Ignored channels", ignoredHint + "Messages there earn no XP. A category's ID covers its channels.", "ignored", ids{Channels}},
	{"ignoredRoleIds", "Ignored roles", ignoredHint + "Members with any of these roles earn no XP.", "ignored", ids{Roles}},
	{"ignoredUserIds", "Ignored members", ignoredHint + "Their messages don't count.", "ignored", ids{}},

	{
		"timeZone", "Time zone", "Decides when a day starts. Type part of a name, such as Berlin, and choose. A change moves the end of active periods immediately.",
		"periods", text{list: "zones"},
	},
	{"periods", "Periods", "", "periods", ticks{Options: []Option{
		{string(period.Daily), "Daily"}, {string(period.Weekly), "Weekly, from Monday"}, {string(period.Monthly), "Monthly"},
	}}},
	{"seasons", "Seasons", "Up to 50 seasons of 1 to 400 days that don't overlap. You can't change the dates of a season that has ended. " +
		"If you remove one that has ended, its leaderboard is kept.", "periods", Rows{
		Noun: "Season", Add: []Option{{"add-season", "Add season"}},
		Fields: []Property{
			{Name: "name", Label: "Name", Kind: text{}},
			{Name: "id", Label: "ID (a to z, 0 to 9 and -)", Kind: text{}},
			{Name: "start", Label: "Start", Kind: text{input: "date"}},
			{Name: "end", Label: "End (the first day after it)", Kind: text{input: "date"}},
		},
		inWords: func(w map[string]string) string {
			return w["id"] + ": " + w["name"] + ", from " + w["start"] + " to the day before " + w["end"]
		},
	}},

	{"announcements", "Announcements", "Up to 10. A live board is one message with the top of the leaderboard. " +
		"A signed webhook sends events as JSON to your program. levelboard-bot posts bot messages where the member wrote.", "announcements", Rows{
		Noun: "Announcement", Fields: announcementFields, of: ofKind, added: newAnnouncement,
		Add: []Option{
			{"add-announcement discord", "Add Discord message"}, {"add-announcement board", "Add live board"},
			{"add-announcement webhook", "Add signed webhook"}, {"add-announcement bot", "Add bot message"},
		},
		inWords: announcementInWords,
	}},
}

// directory has the properties of a guild's directory.
var directory = []Property{{Name: "roles", Label: "Number of roles", Kind: tally{}}, {Name: "channels", Label: "Number of channels", Kind: tally{}}}

// ByName returns the property with that name.
func ByName(name string) (Property, bool) { return byName(Table, name) }

func byName(list []Property, name string) (Property, bool) {
	for _, p := range list {
		if p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}
