package loadgen

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	// MaxGuilds bounds Options.Guilds.
	MaxGuilds = 100_000
	// firstFurtherGuild is the id of a run's second guild; the others follow. No guild has such an id before the year 2083.
	firstFurtherGuild = 9_020_000_000_000_000_001
	// grantsOfKey is how many of the guilds one key is for: as many as a key can be made with.
	grantsOfKey = 1000
	// adminCallers is how many calls to /admin are under way at once where there is one for each guild.
	adminCallers = 8
)

// appendGuildID appends the id of the guild of bench with that number, from 0.
func appendGuildID(b []byte, guild int) []byte {
	if guild == 0 {
		return append(b, guildID...)
	}
	return strconv.AppendInt(b, firstFurtherGuild+int64(guild-1), 10)
}

// crowded says how the members are spread over the guilds: evenly, in turn. Methods number the guilds of the run from 0.
type crowded struct{ members, guilds, first int }

// appendGuild appends the id of one of the guilds.
func (c crowded) appendGuild(b []byte, guild int) []byte { return appendGuildID(b, c.first+guild) }

func (c crowded) adminPath(guild int) string {
	return string(c.appendGuild([]byte("/admin/guilds/"), guild))
}

func (c crowded) guildOf(member int) int { return member % c.guilds }

// membersOf is how many members a guild has.
func (c crowded) membersOf(guild int) int { return (c.members - guild + c.guilds - 1) / c.guilds }

// headersOf are the headers of a request about a member, with a key for its guild. The first member of a guild has its number.
func (s *shared) headersOf(member int) string { return s.headers[s.guildOf(member)/grantsOfKey] }

// eachGuild calls f for every guild of the run, several at a time, and returns the first error after which no more were begun.
func (b *bench) eachGuild(ctx context.Context, doing string, f func(ctx context.Context, guild int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun, done atomic.Int64
	if b.guilds > 1 {
		stop := every(progressInterval, func() {
			b.Progress(fmt.Sprintf("%s: %s of %s guilds", doing, grouped(done.Load()), grouped(int64(b.guilds))))
		})
		defer stop()
	}
	var group sync.WaitGroup
	for range min(adminCallers, b.guilds) {
		group.Go(func() {
			for ctx.Err() == nil {
				guild := int(begun.Add(1)) - 1
				if guild >= b.guilds {
					return
				}
				if err := f(ctx, guild); err != nil {
					cancel(err)
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
