package redisstore

import (
	"math"
	"strconv"
	"unicode/utf8"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// fillRows puts the xp and entries of an answer (prelude/rows.lua) into the rows. It mends damaged entries, so that they do not keep the others
// from the archive, and returns their users: XP becomes the nearest valid amount, unreadable numbers 0, unreadable user data unknown.
func fillRows(r reply, rows []snapshot.Row) (mended []id.User) {
	scores, entries := r.of("xp").sized(len(rows)), r.of("entries").sized(len(rows))
	for i := range rows {
		row, score := &rows[i], scores.at(i)
		if !score.there() {
			row.Deleted = true
			continue
		}
		xp, xpGood := nearestXP(score.value)
		e, entryGood := readEntry(entries.at(i).value)
		row.XP, row.MessageCount, row.User = xp, e.count, e.user
		row.Absent, row.Gains, row.Fresh = e.absent, e.gains, e.fresh
		row.LastUpdated, row.CooldownUntil = fromMillis(e.updated), fromMillis(e.cooldown)
		if !xpGood || !entryGood {
			mended = append(mended, row.UserID)
		}
	}
	return mended
}

// nearestXP reads a score. If the score is no amount of XP, it returns the nearest amount, and ok is false.
func nearestXP(score any) (xp level.XP, ok bool) {
	if n, ok := wholeNumber(score); ok && checkXP(level.XP(n)) == nil {
		return level.XP(n), true
	}
	text, _ := score.(string)
	// ParseFloat accepts infinite scores, and returns an infinity for a number out of range.
	f, _ := strconv.ParseFloat(text, 64)
	return level.XP(math.Round(max(0, min(f, float64(level.MaxXP))))), false
}

// readEntry reads an entry, with user data that the archive accepts; a missing entry has only zero values.
func readEntry(value any) (e entry, ok bool) {
	text, isText := value.(string)
	if !isText {
		return e, value == nil
	}
	e, err := parseEntry(text)
	u := e.user
	for _, field := range []*string{u.Avatar, &u.Discriminator, u.GlobalName, &u.Username, u.AccentColour} {
		if field != nil && !utf8.ValidString(*field) {
			e.user = leaderboard.User{}
			return e, false
		}
	}
	return e, err == nil
}
