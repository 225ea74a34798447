package loadgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

const (
	// guildID is the run's first guild, and mostly its only one. No guild has such an id before the year 2083.
	guildID   = "9000000000000000001"
	guildName = "bench"
	// ownerID owns the guilds of every run, which are known by it.
	ownerID = "9000000000000000002"
)

// prepare makes the guilds, the keys and the members. What it made is removed by tidy, also after an error.
func (b *bench) prepare(ctx context.Context) error {
	if b.Ready && !b.Scenario.sendsMessages() {
		b.ours = true
		if b.verifies() {
			if err := b.makeSetupKeys(ctx); err != nil {
				return err
			}
		}
		return b.makeLoadKeys(ctx)
	}
	if err := b.eachGuild(ctx, "looking for guilds of somebody else", b.checkGuild); err != nil {
		return err
	}
	b.ours = true // from here on, whatever the answers
	if err := b.putGuilds(ctx, nil); err != nil {
		return err
	}
	if err := b.makeSetupKeys(ctx); err != nil {
		return err
	}
	if err := b.makeLoadKeys(ctx); err != nil {
		return err
	}
	b.tellLimit(ctx)
	if b.Members <= onePerCall && b.guilds == 1 {
		if err := b.makeMembers(ctx, filling{fill(), 1, fillConnections}); err != nil {
			return err
		}
	} else if err := b.fillInBulk(ctx); err != nil {
		return err
	}
	if !b.Scenario.sendsMessages() {
		return nil
	}
	return b.putGuilds(ctx, rulesOf())
}

// fillInBulk creates the members by messages, unless they are there. Where messages are to be sent, it returns when the cooldowns
// of the messages that made the members are over.
func (b *bench) fillInBulk(ctx context.Context) error {
	filled, err := b.filled(ctx)
	if err != nil || filled {
		return err
	}
	operation, each := fillByMessages(b.crowded)
	members := filling{operation, each, fillCallers}
	if b.guilds > 1 { // boards are then small, and their settings take long to change
		return b.makeMembers(ctx, members)
	}
	if err := b.putGuilds(ctx, fillRules()); err != nil {
		return err
	}
	if err := b.makeMembers(ctx, members); err != nil {
		return err
	}
	if b.Scenario.sendsMessages() {
		b.Progress("waiting for the end of the new members' cooldowns")
		if !b.sleep(ctx, gainInterval*time.Millisecond) {
			return fmt.Errorf("wait for the end of the cooldowns: %w", context.Cause(ctx))
		}
	}
	return b.putGuilds(ctx, nil)
}

// onePerCall is the most members that are created by a call each. A service lets one caller make some thousand calls a minute unless
// it is told otherwise, and the members are read by the same caller.
const onePerCall = 500

// filled reports whether the boards have as many members as the run: an earlier run kept them. The first and the last guild
// speak for all.
func (b *bench) filled(ctx context.Context) (bool, error) {
	guilds := []int{0, b.guilds - 1}
	r := b.newReader(len(guilds))
	defer r.close()
	for _, guild := range guilds {
		n := b.membersOf(guild)
		last, err := r.readPage(ctx, guild, pagesOf(n))
		if err != nil {
			return false, fmt.Errorf("look for the members of an earlier run: %w", err)
		}
		if len(last) <= (n-1)%pageSize {
			return false, nil
		}
	}
	return true, nil
}

// checkGuild fails when there is a guild of that id that no run made.
func (b *bench) checkGuild(ctx context.Context, guild int) error {
	status, answer, err := b.Admin(ctx, http.MethodGet, b.adminPath(guild), nil)
	if err != nil && status != http.StatusNotFound {
		return err
	}
	if err == nil {
		var found struct {
			Name    string `json:"name"`
			OwnerID string `json:"ownerId"`
		}
		if err := json.Unmarshal(answer, &found); err != nil {
			return fmt.Errorf("the service's answer cannot be read: %w", err)
		}
		if found.Name != guildName || found.OwnerID != ownerID {
			return fmt.Errorf("the guild %s exists and is not one of bench; it stays untouched", b.appendGuild(nil, guild))
		}
	}
	return nil
}

// putGuilds creates the guilds, or changes the settings of those that are there, rules among them.
func (b *bench) putGuilds(ctx context.Context, rules map[string]any) error {
	document := map[string]any{"name": guildName, "memberCount": b.membersOf(0), "ownerId": ownerID, "visibility": "private"}
	maps.Copy(document, rules)
	settings, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write the guild's settings: %w", err)
	}
	return b.eachGuild(ctx, "making guilds", func(ctx context.Context, guild int) error {
		_, _, err := b.Admin(ctx, http.MethodPut, b.adminPath(guild), settings)
		return err
	})
}

// filling is a way to create the members, about so many with each request.
type filling struct {
	operation   operation
	each        float64
	connections int // at most
}

// makeMembers creates the members, on no more connections than the load will have.
func (b *bench) makeMembers(ctx context.Context, f filling) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	record := newRecorder(1)
	stop := every(progressInterval, func() {
		done, failed := record.count()
		there := min(int64(float64(done)*f.each), int64(b.Members))
		b.Progress(fmt.Sprintf("%s of %s members are there", grouped(there), grouped(int64(b.Members))))
		if failed > 0 {
			cancel() // one that is missing is enough to give up
		}
	})
	crowd := &crowd{
		target: b.target, shared: b.shared(b.setupKeys, nil), shares: []share{{f.operation, 1}}, connections: min(b.Concurrency, f.connections), recorder: record,
	}
	crowd.run(ctx)
	stop()
	errs := record.totals()[0].errors
	switch {
	case errs[tooMany] > 0:
		return errors.New("the members cannot be created, because the service limits its callers: " + identityAdvice)
	case len(errs) > 0:
		return errors.New("the members cannot be created: " + listed(errs))
	}
	return ctx.Err()
}

const (
	// fillConnections is enough to keep a service busy with the creation of members.
	fillConnections = 64
	// fillCallers is enough to keep a service busy with calls of a thousand messages: more would only wait for each other.
	fillCallers = 4
)

// tidy revokes the keys and, unless they are to be kept, deletes the guilds.
func (b *bench) tidy(ctx context.Context) error {
	err := b.revokeKeys(ctx)
	if b.ours && !b.Keep {
		err = errors.Join(err, b.removeGuilds(ctx))
	}
	return err
}

// removeGuilds deletes as many of the guilds as it can.
func (b *bench) removeGuilds(ctx context.Context) error {
	var mu sync.Mutex
	left := leftover{what: "guild"}
	err := b.eachGuild(ctx, "removing guilds", func(ctx context.Context, guild int) error {
		status, _, err := b.Admin(ctx, http.MethodDelete, b.adminPath(guild), nil)
		if err != nil && status != http.StatusNotFound {
			mu.Lock()
			defer mu.Unlock()
			left.add(string(b.appendGuild(nil, guild)), err)
		}
		return nil
	})
	return errors.Join(left.err(), err)
}

// leftover counts what could not be removed, and keeps the first of it and why: of thousands, all have the same reason.
type leftover struct {
	what  string
	n     int
	first error
}

func (l *leftover) add(name string, err error) {
	if l.n++; l.n == 1 {
		l.first = fmt.Errorf("the %s %s is left behind: %w", l.what, name, err)
	}
}

// err is nil when nothing is left.
func (l *leftover) err() error {
	if l.n > 1 {
		return fmt.Errorf("%s %ss are left behind: %w", grouped(int64(l.n)), l.what, l.first)
	}
	return l.first
}
