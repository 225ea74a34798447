package torture

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"levelboard/internal/domain/period"
)

// entry is a member as the end of a run finds it, in Redis or in the archive.
type entry struct {
	xp, messages, updated, cooldown, gained int64
	name                                    string
	away                                    bool
}

// readLive adds a guild's members, past the service, and reports whether Redis holds the guild.
func (h *harness) readLive(guild string, into map[string]entry) (loaded bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	prefix := "lb:{" + guild + "}:"
	meta, err := h.live.HGetAll(ctx, prefix+"meta").Result()
	if err != nil || len(meta) == 0 {
		return false, err
	}
	unsaved, err := h.unsaved(ctx, guild)
	if err != nil {
		return true, err
	}
	if len(unsaved) > 0 {
		h.violation(nil, fmt.Sprintf("the last snapshot left members of guild %s behind: dirty %v, meta %v", guild, unsaved, meta))
	}
	scores, err := h.live.ZRangeWithScores(ctx, prefix+"xp", 0, -1).Result()
	if err != nil {
		return true, err
	}
	entries, err := h.live.HGetAll(ctx, prefix+"entry").Result()
	if err != nil {
		return true, err
	}
	for _, z := range scores {
		user := fmt.Sprint(z.Member)
		if into[guild+"/"+user], err = entryOf(strconv.FormatFloat(z.Score, 'f', 0, 64), entries[user], false); err != nil {
			return true, err
		}
	}
	present := len(scores)
	for user, text := range entries {
		xp, rest, away := strings.Cut(strings.TrimPrefix(text, "-"), " ")
		if !strings.HasPrefix(text, "-") || !away {
			continue
		}
		present++
		if _, scored := into[guild+"/"+user]; scored {
			h.violation(nil, fmt.Sprintf("member %s of guild %s has a score and is not present: %q", user, guild, text))
		}
		if into[guild+"/"+user], err = entryOf(xp, rest, true); err != nil {
			return true, err
		}
	}
	if len(entries) != present {
		h.violation(nil, fmt.Sprintf("guild %s has %d members and %d entries in Redis", guild, present, len(entries)))
	}
	return true, nil
}

// entryOf reads a member's XP and entry as Redis has them; of one that is not present without what says so.
func entryOf(xp, text string, away bool) (e entry, err error) {
	e.xp, e.away = number(xp), away
	// Of one whose messages came without user data there are three numbers and no more.
	if parts := strings.SplitN(text, " ", 4); len(parts) >= 3 {
		cooldown, days, _ := strings.Cut(parts[2], ";")
		e.messages, e.updated, e.cooldown = number(parts[0]), number(parts[1]), number(cooldown)
		gains, err := period.ParseGains(strings.TrimPrefix(days, "!"))
		if err != nil {
			return e, fmt.Errorf("the gains of an entry, %q: %w", text, err)
		}
		for _, g := range gains {
			e.gained += g.Gained
		}
	}
	if fields := strings.Split(text, "\x00"); len(fields) == 5 {
		e.name = fields[3]
	}
	return e, nil
}
