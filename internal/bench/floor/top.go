package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The board that the floors read and change: scores, counters and names, each in a key of its own. It is not a board of the
// service, and shares nothing with them.
const (
	boardKey = "floor:xp"
	statKey  = "floor:stat"
	userKey  = "floor:user"
	// boardMembers is how many members it has; their ids are firstMember and the numbers after it.
	boardMembers = 100_000
	firstMember  = 9_100_000_000_000_000_000
	fillChunk    = 1000
)

// fill writes the board again.
func fill(ctx context.Context, client *redis.Client) error {
	if err := client.Del(ctx, boardKey, statKey, userKey).Err(); err != nil {
		return fmt.Errorf("empty the floor's board: %w", err)
	}
	for first := 0; first < boardMembers; first += fillChunk {
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			var xp []redis.Z
			var stats, users []any
			for i := first; i < first+fillChunk; i++ {
				member := fmt.Sprint(firstMember + i)
				xp = append(xp, redis.Z{Score: float64(i * 37 % 5000), Member: member})
				stats = append(stats, member, fmt.Sprintf("%d 1790000000000 0", i%500))
				users = append(users, member, fmt.Sprintf("3\x00%032x\x000\x00Bench Member %d\x00bench.member.%06d\x00", i, i, i))
			}
			p.ZAdd(ctx, boardKey, xp...)
			p.HSet(ctx, statKey, stats...)
			p.HSet(ctx, userKey, users...)
			return nil
		})
		if err != nil {
			return fmt.Errorf("fill the floor's board: %w", err)
		}
	}
	return nil
}

type top struct {
	Levels []entry `json:"levels"`
}

// entry has as many fields as one of a page.
type entry struct {
	Level        int64   `json:"level"`
	MessageCount int64   `json:"messageCount"`
	NextLevelXP  int64   `json:"nextLevelXp"`
	Progress     float64 `json:"progress"`
	Rank         int     `json:"rank"`
	User         user    `json:"user"`
	UserID       string  `json:"userId"`
	XP           int64   `json:"xp"`
}

type user struct {
	AccentColour  *string `json:"accentColour"`
	Avatar        string  `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    string  `json:"globalName"`
	Username      string  `json:"username"`
}

var errStored = errors.New("a stored member cannot be read")

// readTop reads the first hundred and decodes them: two round trips, one for the ids and one for the rest.
// A service pays more for the level; here it is a division.
func readTop(ctx context.Context, client *redis.Client) (page top, err error) {
	ranked, err := client.ZRevRangeWithScores(ctx, boardKey, 0, 99).Result()
	if err != nil {
		return page, fmt.Errorf("read the top: %w", err)
	}
	members := make([]string, len(ranked))
	for i, z := range ranked {
		members[i], _ = z.Member.(string)
	}
	var stats, users *redis.SliceCmd
	if _, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		stats, users = p.HMGet(ctx, statKey, members...), p.HMGet(ctx, userKey, members...)
		return nil
	}); err != nil {
		return page, fmt.Errorf("read the members: %w", err)
	}
	page.Levels = make([]entry, len(ranked))
	for i, z := range ranked {
		e := &page.Levels[i]
		e.Rank, e.UserID, e.XP = i+1, members[i], int64(z.Score)
		e.Level, e.NextLevelXP, e.Progress = e.XP/500, e.XP/500*500+500, float64(e.XP%500)/5
		stat, _ := stats.Val()[i].(string)
		count, _, _ := strings.Cut(stat, " ")
		if e.MessageCount, err = strconv.ParseInt(count, 10, 64); err != nil {
			return page, errStored
		}
		stored, _ := users.Val()[i].(string)
		parts := strings.Split(stored, "\x00")
		if len(parts) != 6 {
			return page, errStored
		}
		e.User = user{Avatar: parts[1], Discriminator: parts[2], GlobalName: parts[3], Username: parts[4]}
	}
	return page, nil
}
