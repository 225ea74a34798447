package redisstore

import (
	"math"
	"strconv"
	"unicode/utf8"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/level"
	"levelboard/internal/snapshot"
)

// fillRows puts what read_batch.lua answered into the rows, and returns the users whose entry had to be mended.
func fillRows(r reply, rows []snapshot.Row) (mended []id.User, err error) {
	xps, err := r.list(1, len(rows))
	if err != nil {
		return nil, err
	}
	stats, err := r.list(2, len(rows))
	if err != nil {
		return nil, err
	}
	users, err := r.list(3, len(rows))
	if err != nil {
		return nil, err
	}
	for i := range rows {
		row := &rows[i]
		if xps.at(i) == nil {
			row.Deleted = true
			continue
		}
		xp, xpGood := nearestXP(xps.at(i))
		st, statGood := readStat(stats, i)
		data, dataGood := readUser(users, i)
		row.XP, row.MessageCount, row.User = xp, st.count, data
		row.LastUpdated, row.CooldownUntil = fromMillis(st.updated), fromMillis(st.cooldown)
		if !xpGood || !statGood || !dataGood {
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

func readStat(stats reply, i int) (st stat, ok bool) {
	text, ok, err := stats.text(i)
	if err == nil && ok {
		st, err = parseStat(text)
	}
	return st, err == nil
}

func readUser(users reply, i int) (leaderboard.User, bool) {
	text, _, err := users.text(i)
	if err != nil || !utf8.ValidString(text) {
		return leaderboard.User{}, false
	}
	u, err := decodeUser(text)
	return u, err == nil
}
