package torture

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"levelboard/internal/domain/period"
)

// entry is a member at the end of a run, in Redis or in the archive.
type entry struct {
	xp, messages, updated, cooldown, gained int64
	name                                    string
	away                                    bool
}

// readLive adds a guild's members from Redis, and reports whether the guild is loaded.
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
	entries, err := h.live.HGetAll(ctx, prefix+"entry").Result()
	if err != nil {
		return true, err
	}
	hidden, err := h.live.HGetAll(ctx, prefix+"hidden").Result()
	if err != nil {
		return true, err
	}
	if want := h.hidden(guild); !maps.Equal(hidden, want) {
		h.violation(nil, fmt.Sprintf("hidden in guild %s are %v, and in Redis %v", guild, want, hidden))
	}
	members := 0
	for _, set := range []string{"xp", "off"} {
		scores, err := h.live.ZRangeWithScores(ctx, prefix+set, 0, -1).Result()
		if err != nil {
			return true, err
		}
		members += len(scores)
		for _, z := range scores {
			user := fmt.Sprint(z.Member)
			if _, scored := into[guild+"/"+user]; scored {
				h.violation(nil, fmt.Sprintf("member %s of guild %s is in two sets", user, guild))
			}
			e, err := entryOf(strconv.FormatFloat(z.Score, 'f', 0, 64), entries[user])
			if err != nil {
				return true, err
			}
			into[guild+"/"+user] = e
			if off := e.away || hidden[user] != ""; off != (set == "off") {
				h.violation(nil, fmt.Sprintf("member %s of guild %s, hidden by %q, is in the set %s: %+v", user, guild, hidden[user], set, e))
			}
		}
	}
	if len(entries) != members {
		h.violation(nil, fmt.Sprintf("guild %s has %d members and %d entries in Redis", guild, members, len(entries)))
	}
	return true, nil
}

// entryOf parses a member's XP and entry as Redis has them.
func entryOf(xp, text string) (e entry, err error) {
	e.xp = number(xp)
	fields := strings.Split(text, "\x00")
	if len(fields) != 10 {
		return e, fmt.Errorf("an entry has %d fields, want 10: %q", len(fields), text)
	}
	e.messages, e.updated, e.cooldown, e.away, e.name = number(fields[0]), number(fields[1]), number(fields[2]), fields[3] == "a", fields[8]
	gains, err := period.ParseGains(strings.TrimPrefix(fields[4], "!"))
	if err != nil {
		return e, fmt.Errorf("parsing the gains of the entry %q: %w", text, err)
	}
	for _, g := range gains {
		e.gained += g.Gained
	}
	return e, nil
}
