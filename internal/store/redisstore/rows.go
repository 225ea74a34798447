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

// fillRows puts a list of XP and one of entries into the rows, and returns the users whose entry had to be mended, so that a damaged one
// does not keep the others from the archive: XP is the nearest there is, unreadable numbers are 0, unreadable user data is unknown.
func fillRows(r reply, rows []snapshot.Row) (mended []id.User, err error) {
	xps, err := r.list(0, len(rows))
	if err != nil {
		return nil, err
	}
	entries, err := r.list(1, len(rows))
	if err != nil {
		return nil, err
	}
	for i := range rows {
		row := &rows[i]
		e, entryGood := readEntry(entries, i)
		if xps.at(i) == nil && !e.absent {
			row.Deleted = true
			continue
		}
		xp, xpGood := e.xp, true
		if row.Absent = e.absent; !e.absent {
			xp, xpGood = nearestXP(xps.at(i))
		}
		data, dataGood := readUser(e.user)
		row.XP, row.MessageCount, row.User = xp, e.count, data
		row.Gains, row.Fresh = e.gains, e.fresh
		row.LastUpdated, row.CooldownUntil = fromMillis(e.updated), fromMillis(e.cooldown)
		if !xpGood || !entryGood || !dataGood {
			mended = append(mended, row.UserID)
		}
	}
	return mended, nil
}

// nearestXP reads a score; ok is false when it is not an amount of XP, but one is nearest to it.
func nearestXP(score any) (xp level.XP, ok bool) {
	if n, err := (reply{score}).number(0); err == nil && checkXP(level.XP(n)) == nil {
		return level.XP(n), true
	}
	text, _ := score.(string)
	// Infinite scores are numbers to ParseFloat, which also returns an infinity for one that is out of range.
	f, _ := strconv.ParseFloat(text, 64)
	return level.XP(math.Round(max(0, min(f, float64(level.MaxXP))))), false
}

func readEntry(entries reply, i int) (e entry, ok bool) {
	text, ok, err := entries.text(i)
	if err == nil && ok {
		e, err = parseEntry(text)
	}
	return e, err == nil
}

func readUser(text string) (leaderboard.User, bool) {
	u, err := decodeUser(text)
	if err != nil {
		return leaderboard.User{}, false
	}
	for _, field := range []*string{u.Avatar, &u.Discriminator, u.GlobalName, &u.Username, u.AccentColour} {
		if field != nil && !utf8.ValidString(*field) {
			return leaderboard.User{}, false
		}
	}
	return u, true
}
