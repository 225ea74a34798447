package announcement

import (
	"strconv"
	"strings"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// MaxMessage is how many characters a message may have, which is Discord's limit.
const MaxMessage = 2000

// The texts of an announcement that has none for an event.
const (
	levelUpText = "{user} has reached level {level}!{#roles} New: {roles}.{/roles}"
	periodText  = "{period} is over.{#first}\n🥇 {first}{/first}{#second}\n🥈 {second}{/second}{#third}\n🥉 {third}{/third}"
)

// Reached is a level-up, with what a text may say of it. Names are as people wrote them.
type Reached struct {
	UserID          id.User
	Name            string
	Level, Previous level.Level
	XP              level.XP
	Rank            int64
	Roles           []string // of the rewards whose levels lie in the jump
	Guild           string
}

// Closed is a period that is over. A winner who is not on the board any more has an empty name.
type Closed struct {
	Period  string // the season's name, or the period's id
	Winners [3]string
	Guild   string
}

// LevelUp returns the message for a level-up, or "" when there is nothing to post.
func (a *Announcement) LevelUp(r Reached) string {
	values := map[string]string{
		"user": Escape(r.Name), "name": Escape(r.Name), "level": strconv.Itoa(int(r.Level)), "previousLevel": strconv.Itoa(int(r.Previous)),
		"xp": strconv.FormatInt(int64(r.XP), 10), "rank": strconv.FormatInt(r.Rank, 10), "guild": Escape(r.Guild),
	}
	values["level."+values["level"]] = "reached" // of the section for this level
	if a.Mention {
		values["user"] = "<@" + string(r.UserID) + ">"
	}
	roles := make([]string, len(r.Roles))
	for i, role := range r.Roles {
		roles[i] = Escape(role)
	}
	values["roles"] = strings.Join(roles, ", ")
	return a.message(LevelUp, levelUpText, values)
}

// PeriodOver returns the message for a closed period, or "" when there is nothing to post.
func (a *Announcement) PeriodOver(c Closed) string {
	return a.message(PeriodOf, periodText, map[string]string{
		"period": Escape(c.Period), "guild": Escape(c.Guild),
		"first": Escape(c.Winners[0]), "second": Escape(c.Winners[1]), "third": Escape(c.Winners[2]),
	})
}

// message is the announcement's text, or the event's own when that is for the other event or there is none.
func (a *Announcement) message(e Event, own string, values map[string]string) string {
	filled, of := "", map[Event]bool(nil)
	if a.Text != nil {
		filled, of, _ = render(*a.Text, values)
	}
	if of == nil || len(of) == 1 && !of[e] {
		filled, _, _ = render(own, values)
	}
	return displayname.Cut(strings.TrimSpace(filled), MaxMessage)
}

// Escape makes Discord show a name as it is written, in one line: nothing of it is markdown, a mention or a link.
func Escape(name string) string {
	name = escaper.Replace(strings.Join(strings.Fields(name), " "))
	if strings.IndexAny(name, "#-+") == 0 { // a heading, small print or a list
		name = `\` + name
	}
	return name
}

var escaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `_`, `\_`, `~`, `\~`, "`", "\\`", `|`, `\|`, `>`, `\>`, `<`, `\<`, `[`, `\[`, `]`, `\]`, `://`, `\://`)
