package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/platform/pause"
)

// Ids of what a run makes. Nobody has such an id before the year 2083.
const (
	firstGuild = 9_000_000_000_000_000_001
	guildOwner = "9010000000000000001" // known by it, and by its name
	guildName  = "bench"
	firstUser  = 9_100_000_000_000_000_000
)

const (
	// adminCallers is how many calls to /admin are under way at once.
	adminCallers = 8
	// fillCallers is enough to keep a service busy with calls of a thousand messages.
	fillCallers = 4
)

// spread says how the members are spread over the guilds: evenly, in turn. Methods number the guilds from 0.
type spread struct{ members, guilds, first int }

func (s spread) guildID(guild int) string   { return strconv.Itoa(firstGuild + s.first + guild) }
func (s spread) guildOf(member int) int     { return member % s.guilds }
func (s spread) membersOf(guild int) int    { return (s.members - guild + s.guilds - 1) / s.guilds }
func (s spread) pagesOf(guild int) int      { return (s.membersOf(guild) + pageSize - 1) / pageSize }
func (s spread) adminPath(guild int) string { return "/guilds/" + s.guildID(guild) }

func (s spread) userPath(member int) string {
	return "/v2/levels/" + s.guildID(s.guildOf(member)) + "/users/" + userID(member)
}

func (s spread) pagePath(guild, page int) string {
	return "/v2/levels/" + s.guildID(guild) + "?page=" + strconv.Itoa(page)
}

func (s spread) messagesPath(guild int) string { return "/v2/guilds/" + s.guildID(guild) + "/messages" }

func userID(member int) string { return strconv.Itoa(firstUser + member) }

// memberOf is the member of a user's id, or -1 if it is none of the n.
func memberOf(user string, n int) int {
	number, err := strconv.Atoi(user)
	if err != nil || number < firstUser || number >= firstUser+n {
		return -1
	}
	return number - firstUser
}

// prepare makes the guilds, the keys and the members. tidy removes what it made, also after an error.
func (b *bench) prepare(ctx context.Context) error {
	if b.Bare {
		return nil
	}
	if !b.Ready {
		b.Progress("making " + counted(b.guilds, "guild"))
		if err := each(ctx, b.guilds, adminCallers, b.checkGuild); err != nil {
			return err
		}
	}
	b.ours = true // from here on, whatever the answers
	if !b.Ready {
		if err := b.putGuilds(ctx, fillRules()); err != nil {
			return err
		}
	}
	if err := b.makeKeys(ctx); err != nil {
		return err
	}
	if !b.Ready {
		if err := b.fill(ctx); err != nil {
			return err
		}
	}
	if b.Scenario.sendsMessages() {
		return b.putGuilds(ctx, messageRules())
	}
	return nil
}

// each calls f for the numbers below n, several at a time, until one fails or ctx ends.
func each(ctx context.Context, n, callers int, f func(ctx context.Context, i int) error) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(callers)
	for i := 0; i < n && running.Err() == nil; i++ {
		group.Go(func() error { return f(running, i) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// checkGuild fails if there is a guild of that id that no run made.
func (b *bench) checkGuild(ctx context.Context, guild int) error {
	var found struct{ Name, OwnerID string }
	err := b.client.admin(ctx, http.MethodGet, b.adminPath(guild), nil, &found)
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err == nil && (found.Name != guildName || found.OwnerID != guildOwner) {
		err = fmt.Errorf("the guild %s exists and is not one of bench; it stays untouched", b.guildID(guild))
	}
	return err
}

// putGuilds creates the guilds, or changes the settings of those that are there.
func (b *bench) putGuilds(ctx context.Context, rules map[string]any) error {
	settings := map[string]any{"name": guildName, "memberCount": b.membersOf(0), "ownerId": guildOwner, "visibility": "private"}
	maps.Copy(settings, rules)
	return each(ctx, b.guilds, adminCallers, func(ctx context.Context, guild int) error {
		return b.client.admin(ctx, http.MethodPut, b.adminPath(guild), settings, nil)
	})
}

// fill creates every member by a message, unless an earlier run left them. If the load sends messages, it returns when the new
// members' cooldowns are over.
func (b *bench) fill(ctx context.Context) error {
	filled, err := b.filled(ctx)
	if err != nil || filled {
		return err
	}
	b.Progress("making " + counted(b.Members, "member"))
	perGuild := (b.membersOf(0) + maxBatch - 1) / maxBatch // calls
	err = each(ctx, perGuild*b.guilds, fillCallers, func(ctx context.Context, i int) error {
		guild, part := i%b.guilds, i/b.guilds
		var call []spoken
		for place := part * maxBatch; place < min((part+1)*maxBatch, b.membersOf(guild)); place++ {
			call = append(call, spoken{member: guild + place*b.guilds, data: dataKnown})
		}
		if len(call) == 0 {
			return nil
		}
		got, err := b.client.do(ctx, request{
			method: http.MethodPost, path: b.messagesPath(guild), key: b.setupKeys[guild/grantsOfKey].secret, body: appendCall(nil, call),
		})
		if err == nil && got.status != http.StatusOK {
			err = fmt.Errorf("the service answered %d%s", got.status, adviceFor(got.status))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the members cannot be created: %w", err)
	}
	if b.Scenario.sendsMessages() {
		b.Progress("waiting for the end of the new members' cooldowns")
		if !pause.For(ctx, cmp.Or(b.cooldown, gainInterval*time.Millisecond)) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// filled reports if an earlier run left as many members. The first and the last guild speak for all.
func (b *bench) filled(ctx context.Context) (bool, error) {
	for _, guild := range []int{0, b.guilds - 1} {
		last, err := b.readPage(ctx, guild, b.pagesOf(guild))
		if err != nil {
			return false, fmt.Errorf("look for the members of an earlier run: %w", err)
		}
		if len(last) <= (b.membersOf(guild)-1)%pageSize {
			return false, nil
		}
	}
	return true, nil
}

// tidy revokes the keys and, unless they are to be kept, deletes the guilds.
func (b *bench) tidy(ctx context.Context) error {
	left := &leftovers{}
	for _, key := range append(b.loadKeys, b.setupKeys...) {
		left.add("key "+key.id, b.client.admin(ctx, http.MethodDelete, "/keys/"+key.id, nil, nil))
	}
	if b.ours && !b.Keep {
		_ = each(ctx, b.guilds, adminCallers, func(ctx context.Context, guild int) error {
			left.add("guild "+b.guildID(guild), b.client.admin(ctx, http.MethodDelete, b.adminPath(guild), nil, nil))
			return nil
		})
	}
	return left.err()
}

// leftovers counts what could not be removed, and keeps the first of it: of thousands, all have the same reason.
type leftovers struct {
	mu    sync.Mutex
	n     int
	first error
}

func (l *leftovers) add(name string, err error) {
	if err == nil || errors.Is(err, errNotFound) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n == 1 {
		l.first = fmt.Errorf("the %s is left behind: %w", name, err)
	}
}

func (l *leftovers) err() error {
	if l.n > 1 {
		return fmt.Errorf("%d guilds or keys are left behind: %w", l.n, l.first)
	}
	return l.first
}
