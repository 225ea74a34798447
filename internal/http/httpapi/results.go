package httpapi

import (
	"strconv"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// resultSize is about how many bytes a result takes that changes no roles.
const resultSize = 176

const noRoles = `,"addRoles":[],"removeRoles":[]`

// encodeResults is the answer to messages. It is written by hand because it is the longest answer there is, and the one
// asked for most; no value in it needs an escape.
func encodeResults(g *guild.Guild, gains []leaderboard.Gain) []byte {
	roles := make(map[level.Level]string)
	to := make([]byte, 0, len(gains)*resultSize)
	to = append(to, `{"results":[`...)
	for i := range gains {
		gain := &gains[i]
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, `{"userId":"`...)
		to = append(to, gain.UserID...)
		to = append(to, `","gained":`...)
		to = strconv.AppendInt(to, int64(gain.Gained), 10)
		to = append(to, `,"xp":`...)
		to = strconv.AppendInt(to, int64(gain.XP), 10)
		to = append(to, `,"level":`...)
		to = strconv.AppendInt(to, int64(gain.Level), 10)
		to = append(to, `,"messageCount":`...)
		to = strconv.AppendInt(to, gain.MessageCount, 10)
		to = append(to, `,"leveledUp":`...)
		to = strconv.AppendBool(to, gain.LeveledUp)
		if !gain.LeveledUp {
			to = append(to, noRoles...)
		} else {
			changes, known := roles[gain.Level]
			if !known {
				changes = roleChanges(g, gain.Level)
				roles[gain.Level] = changes
			}
			to = append(to, changes...)
		}
		to = append(to, '}')
	}
	return append(to, `]}`...)
}

// roleChanges is the end of a result of a member that comes to this level.
func roleChanges(g *guild.Guild, at level.Level) string {
	add, remove := g.RoleChanges(at)
	to := appendRoles([]byte(`,"addRoles":[`), add)
	to = appendRoles(append(to, `],"removeRoles":[`...), remove)
	return string(append(to, ']'))
}

func appendRoles(to []byte, roles []id.Role) []byte {
	for i, role := range roles {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, '"')
		to = append(to, role...)
		to = append(to, '"')
	}
	return to
}
