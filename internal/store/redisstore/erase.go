package redisstore

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	eraseScript       = newScript("erase", "now", "note")
	eraseEventsScript = newScript("erase_events")
	findEntryScript   = newScript("find_entry", "values", "rows")
)

// eventsPattern matches the logs of events of all guilds and incarnations.
const eventsPattern = keyPrefix + "*" + keySuffix + "events:*"

// eraseEventsSize is how many events one step looks at. That takes the server about a millisecond.
const eraseEventsSize = 500

var _ erasure.Live = (*Store)(nil)

// EraseMember implements erasure.Live.
func (s *Store) EraseMember(ctx context.Context, guilds []id.Guild, user id.User, always bool) []erasure.Searched {
	calls := make([]*redisconn.Call, len(guilds))
	found := make([]erasure.Searched, len(guilds))
	noted := "0"
	if always {
		noted = "1"
	}
	for i, g := range guilds {
		k := keysOf(g)
		calls[i] = &redisconn.Call{
			Script: eraseScript, Keys: append(k.names(metaName, xpName, offName, entryName, dirtyName, journalName), k.gains()...), Args: []any{string(user), noted},
		}
	}
	s.client.RunEach(ctx, calls)
	for i, c := range calls {
		s.noteChanged(guilds[i], c.Err)
		if found[i].Err = known(c.Err); c.Err == nil {
			found[i] = searchedOf(guilds[i], newReply(c.Reply))
		}
	}
	return found
}

// searchedOf reads the answer of erase.lua.
func searchedOf(g id.Guild, r reply) (found erasure.Searched) {
	if r.size() == 0 {
		return found
	}
	found.Guild, found.Unverified = r.guild(g), !r.of("noted").there()
	if found.Noted = !found.Unverified && r.of("noted").number() == 1; found.Noted {
		found.Epoch, found.Rev = r.of("epoch").number(), r.of("rev").number()
	}
	if err := r.done("erase a member"); err != nil {
		return erasure.Searched{Err: err}
	}
	return found
}

// Archived implements erasure.Live.
func (s *Store) Archived(ctx context.Context, guilds []id.Guild) (states []snapshot.State, err error) {
	cmds := make([]*redis.SliceCmd, len(guilds))
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, g := range guilds {
			cmds[i] = p.HMGet(ctx, keysOf(g).meta(), "epoch", "archived")
		}
		return nil
	})
	if err != nil {
		return nil, wrap("read what is archived", err)
	}
	states = make([]snapshot.State, len(guilds))
	all := newReply(nil)
	for i, cmd := range cmds {
		if r := (reply{cmd.Val(), all.bad}); r.at(0).there() {
			states[i] = snapshot.State{Epoch: r.at(0).number(), Archived: r.at(1).number()}
		}
	}
	return states, all.done("read what is archived")
}

func entryKeys(k guildKeys) []string { return k.names(metaName, xpName, offName, entryName) }

// Entries implements erasure.Live.
func (s *Store) Entries(ctx context.Context, guilds []id.Guild, user id.User) (found []erasure.Membership, err error) {
	err = s.onEach(ctx, findEntryScript, guilds, entryKeys, func(g id.Guild, r reply, err error) error {
		if err != nil || r.size() == 0 {
			return err
		}
		rows := []snapshot.Row{{Member: leaderboard.Member{UserID: user}}}
		fillRows(r, rows)
		found = append(found, erasure.Membership{Guild: r.guild(g), Row: rows[0]})
		return *r.bad
	}, string(user))
	return found, err
}

// EraseEvents implements erasure.Live.
func (s *Store) EraseEvents(ctx context.Context, user id.User) error {
	logs, err := s.allKeys(ctx, eventsPattern)
	for _, key := range logs {
		for from := "-"; from != "" && err == nil; {
			var r reply
			if r, err = s.run(ctx, eraseEventsScript, []string{key}, string(user), from, eraseEventsSize); err == nil {
				from, err = r.of("last").text(), *r.bad
			}
			if from != "" {
				from = "(" + from
			}
		}
	}
	return wrap("erase events", err)
}

// EraseRequests implements erasure.Live.
func (s *Store) EraseRequests(ctx context.Context, requests []erasure.Request) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, r := range requests {
			p.Unlink(ctx, keysOf(r.Guild).once(digestText(r.Name)))
		}
		return nil
	})
	return wrap("erase records of requests", err)
}

// Clock implements erasure.Live.
func (s *Store) Clock(ctx context.Context) (latest time.Time, err error) {
	var mu sync.Mutex
	err = s.client.EachMaster(ctx, func(master *redis.Client) error {
		now, err := master.Time(ctx).Result()
		mu.Lock()
		defer mu.Unlock()
		if now.After(latest) {
			latest = now
		}
		return err
	})
	return latest, wrap("read the clock", err)
}

// Lives implements erasure.Live.
func (s *Store) Lives(ctx context.Context) (string, error) {
	lives, err := s.client.Lives(ctx)
	return strings.Join(lives, " "), wrap("ask which life of the servers it is", err)
}
