package redisstore

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
)

// winner finds the users in the event of a closed period.
var winner = regexp.MustCompile(`"userId":"(\d+)"`)

// EraseOldEvents implements erasure.Live.
func (s *Store) EraseOldEvents(ctx context.Context, erased erasure.Erased) error {
	logs, err := s.allKeys(ctx, eventsPattern)
	for _, key := range logs {
		for from := "-"; from != "" && err == nil; {
			from, err = s.eraseOldEvents(ctx, key, from, erased)
		}
	}
	return wrap("erase old events", err)
}

// eraseOldEvents erases in one part of a log. It returns the first id of the next part, "" at the end.
func (s *Store) eraseOldEvents(ctx context.Context, key, from string, erased erasure.Erased) (next string, err error) {
	part, err := s.client.XRangeN(ctx, key, from, "+", eraseEventsSize).Result()
	if err != nil || len(part) == 0 {
		return "", err
	}
	named := make([][]id.User, len(part))
	for i, e := range part {
		named[i] = usersOf(e)
	}
	users := slices.Concat(named...)
	slices.Sort(users)
	until, err := erased(ctx, slices.Compact(users))
	if err != nil {
		return "", err
	}
	var gone []string
	for i, e := range part {
		place, err := events.ParseID(e.ID)
		if err != nil {
			return "", err
		}
		at := time.UnixMilli(int64(place.Millis))
		if slices.ContainsFunc(named[i], func(user id.User) bool { e, found := until[user]; return found && !at.After(e.Until) }) {
			gone = append(gone, e.ID)
		}
	}
	if len(gone) > 0 {
		err = s.client.XDel(ctx, key, gone...).Err()
	}
	if len(part) < eraseEventsSize {
		return "", err
	}
	return "(" + part[len(part)-1].ID, err
}

// usersOf returns the users that an event names (docs/redis-keys.md).
func usersOf(e redis.XMessage) (users []id.User) {
	for field, value := range e.Values {
		text, _ := value.(string)
		switch {
		case strings.Contains("uoi", field):
			users = append(users, id.User(text))
		case field == "p":
			for _, found := range winner.FindAllStringSubmatch(text, -1) {
				users = append(users, id.User(found[1]))
			}
		}
	}
	return users
}
