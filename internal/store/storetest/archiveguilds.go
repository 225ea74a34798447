package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store"
	"levelboard/internal/usecase/snapshot"
)

const everySetting = `,"icon":"a_0123456789abcdef0123456789abcdef","adminIds":["200000000000000002"],"enabled":false,
	"visibility":"private","embedding":true,"vanity":"gophers","curve":[0,10.5,2],"xpGainInterval":10000,"xpPerMessageMin":1,"xpPerMessageMax":1000,
	"xpGlobalMultiplier":1.25,"ignoredChannelIds":["300000000000000001"],"ignoredRoleIds":["400000000000000001"],"ignoredUserIds":["200000000000000003"],
	"multipliers":[{"type":"Channel","multiplier":0,"targets":[{"id":"300000000000000002","name":"hélp \"quoted\" 😀","parentId":"300000000000000009","position":3,"type":5}]},
		{"type":"Role","multiplier":2.5,"targets":[{"id":"400000000000000002","name":"booster","color":255,"position":1}]}],
	"roleRewards":[{"level":10,"stack":false,"roles":[{"id":"400000000000000003","name":"ten","color":null,"position":1}]},{"level":5,"roles":[]}],
	"timeZone":"Europe/Berlin","periods":["month","day"],"seasons":[{"id":"winter","name":"Winter ❄","start":"2026-12-01","end":"2027-03-01"}]`

func archiveSettings(t *testing.T, a store.Archive) {
	if _, err := a.Guild(t.Context(), guildA); !errors.Is(err, guild.ErrNotFound) {
		t.Fatalf("an unknown guild: %v, want guild.ErrNotFound", err)
	}
	for _, more := range []string{"", everySetting} {
		want := settingsOf(t, guildA, more)
		written := put(t, a, want)
		read := mustGet(a.Guild(t.Context(), guildA))(t)
		for who, got := range map[string]*guild.Guild{"written": written, "read": read} {
			if !reflect.DeepEqual(got.Settings, want) {
				t.Errorf("%s:\n got %+v\nwant %+v", who, got.Settings, want)
			}
		}
		if read.Incarnation <= 0 || read.Incarnation != written.Incarnation || read.Version != written.Version {
			t.Errorf("incarnation and version are read as %d, %d, want %d, %d", read.Incarnation, read.Version, written.Incarnation, written.Version)
		}
	}
}

func archiveReplace(t *testing.T, a store.Archive) {
	first, created, err := a.PutGuild(t.Context(), settingsOf(t, guildA, ""))
	if err != nil || !created {
		t.Fatalf("the first put: created %v, %v, want true", created, err)
	}
	l := leased(t, a)
	writeRows(t, a, l, first, 0, 7, row("300000000000000001", 10))
	second, created, err := a.PutGuild(t.Context(), settingsOf(t, guildA, `,"vanity":"new"`))
	if err != nil || created {
		t.Fatalf("the second put: created %v, %v, want false", created, err)
	}
	if second.Incarnation != first.Incarnation || second.Version <= first.Version {
		t.Errorf("the replacement changed incarnation %d to %d and version %d to %d, want a newer version only",
			first.Incarnation, second.Incarnation, first.Version, second.Version)
	}
	if s, err := a.State(t.Context(), refOf(second)); err != nil || s.Archived != 7 || len(allMembers(t, a, second)) != 1 {
		t.Errorf("after the replacement the state is %+v (%v) with %d members, want 7 archived and one member", s, err, len(allMembers(t, a, second)))
	}
}

func archiveVanity(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	put(t, a, settingsOf(t, guildB, ""))
	before := mustGet(a.LatestChange(t.Context()))(t)
	if _, _, err := a.PutGuild(t.Context(), settingsOf(t, guildB, `,"vanity":"gophers","enabled":false`)); !errors.Is(err, guild.ErrVanityTaken) {
		t.Fatalf("putting a taken vanity: %v, want guild.ErrVanityTaken", err)
	}
	if g, err := a.Guild(t.Context(), guildB); err != nil || !g.Enabled || g.Vanity != "" {
		t.Errorf("a refused put changed the guild to %+v (%v)", g, err)
	}
	if after, err := a.LatestChange(t.Context()); err != nil || after != before {
		t.Errorf("a refused put changed the latest change from %d to %d (%v)", before, after, err)
	}
	if g, err := a.GuildByVanity(t.Context(), "gophers"); err != nil || g.ID != guildA {
		t.Errorf("the vanity leads to %+v (%v), want %s", g, err, guildA)
	}
	put(t, a, settingsOf(t, guildA, ""))
	if _, err := a.GuildByVanity(t.Context(), "gophers"); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("a vanity that was given up: %v, want guild.ErrNotFound", err)
	}
	put(t, a, settingsOf(t, guildB, `,"vanity":"gophers"`))
	if g, err := a.GuildByVanity(t.Context(), "gophers"); err != nil || g.ID != guildB {
		t.Errorf("a vanity that was taken over leads to %+v (%v), want %s", g, err, guildB)
	}
}

func archiveGuildList(t *testing.T, a store.Archive) {
	for i := range 5 {
		put(t, a, settingsOf(t, id.Guild(fmt.Sprintf("10000000000000000%d", i)), ""))
	}
	var ids []string
	for after := id.Guild(""); ; {
		piece := mustGet(a.Guilds(t.Context(), after, 2))(t)
		if len(piece) == 0 {
			break
		}
		for _, g := range piece {
			ids = append(ids, string(g.ID[17:]))
			after = g.ID
		}
	}
	if got := strings.Join(ids, ""); got != "01234" {
		t.Errorf("guilds are listed in the order %q, want 01234", got)
	}
}

func archiveDelete(t *testing.T, a store.Archive) {
	if _, err := a.DeleteGuild(t.Context(), guildA); !errors.Is(err, guild.ErrNotFound) {
		t.Fatalf("deleting an unknown guild: %v, want guild.ErrNotFound", err)
	}
	old := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	l := leased(t, a)
	writeRows(t, a, l, old, 0, 1, row("300000000000000001", 10))
	if gone, err := a.DeleteGuild(t.Context(), guildA); err != nil || gone.Incarnation != old.Incarnation {
		t.Fatalf("deleting the guild returned %+v (%v), want incarnation %d", gone, err, old.Incarnation)
	}
	if _, err := a.Guild(t.Context(), guildA); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("reading a deleted guild: %v, want guild.ErrNotFound", err)
	}
	again := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	if again.Incarnation == old.Incarnation {
		t.Error("a guild that was created again has its old incarnation")
	}
	if rows := allMembers(t, a, again); len(rows) != 0 {
		t.Errorf("a guild that was created again has its old members %+v", rows)
	}
}

func aKey(keyID string, guilds ...id.Guild) apikey.Key {
	k := apikey.Key{
		ID: keyID, Name: "bot ü", OwnerID: ownerA, Permission: apikey.Read, GuildIDs: guilds,
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
	for i := range k.Hash {
		k.Hash[i] = byte(i * 7)
	}
	return k
}

// archiveLog runs many writers at once, and then reads each one's changes in the log.
func archiveLog(t *testing.T, a store.Archive) {
	if latest, err := a.LatestChange(t.Context()); err != nil || latest != 0 {
		t.Fatalf("a new archive's latest change is %d (%v), want 0", latest, err)
	}
	put(t, a, settingsOf(t, guildB, ""))
	// The changes alternate, so that each has an effect. An odd number leaves the grant in place.
	const writers, each = 16, 5
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			key := fmt.Sprintf("key%09d", w)
			if err := a.CreateKey(t.Context(), aKey(key), apikey.Operator, 0); err != nil {
				t.Errorf("create: %v", err)
			}
			for i := range each {
				change := a.Grant
				if i%2 == 1 {
					change = a.Ungrant
				}
				if err := change(t.Context(), key, guildB, apikey.Operator); err != nil {
					t.Errorf("change %d of %s: %v", i, key, err)
				}
			}
		})
	}
	group.Wait()
	counts := map[changes.Change]int{}
	var seen int64
	for {
		piece := mustGet(a.Changes(t.Context(), seen, 7))(t)
		if len(piece) == 0 {
			break
		}
		for _, c := range piece {
			if c.Version != seen+1 {
				t.Fatalf("version %d follows %d, want no gap", c.Version, seen)
			}
			seen = c.Version
			counts[changes.Change{Kind: c.Kind, Subject: c.Subject}]++
		}
	}
	if latest, err := a.LatestChange(t.Context()); err != nil || latest != seen || seen != 1+writers*(each+1) {
		t.Errorf("the latest change is %d (%v) and the log ends at %d, want %d", latest, err, seen, 1+writers*(each+1))
	}
	for w := range writers {
		if n := counts[changes.Change{Kind: changes.Key, Subject: fmt.Sprintf("key%09d", w)}]; n != each+1 {
			t.Errorf("writer %d has %d log entries, want %d", w, n, each+1)
		}
	}
	mustGet(a.DeleteGuild(t.Context(), guildB))(t)
	after, err := a.Changes(t.Context(), seen, 100)
	if err != nil || len(after) != 1+writers {
		t.Errorf("deleting a guild that %d keys have access to logged %d changes (%v), want one each and one", writers, len(after), err)
	}
}

// archiveNoChange repeats changes that have no effect. None may be logged: followers would drop their caches for nothing.
func archiveNoChange(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	must(t, a.CreateKey(t.Context(), aKey("key000000001", guildA, guildA), apikey.Operator, 0))
	if g.Version != 1 {
		t.Errorf("the first change has version %d, want 1", g.Version)
	}
	for name, err := range map[string]error{
		"grant":   a.Grant(t.Context(), "key000000001", guildA, apikey.Operator),
		"ungrant": a.Ungrant(t.Context(), "key000000001", guildB, apikey.Operator),
	} {
		if err != nil {
			t.Errorf("%s fails: %v", name, err)
		}
	}
	if err := a.CreateKey(t.Context(), aKey("key000000001"), apikey.Operator, 0); err == nil {
		t.Error("a key was created twice")
	}
	if latest, err := a.LatestChange(t.Context()); err != nil || latest != 2 {
		t.Errorf("the latest change is %d (%v), want 2", latest, err)
	}
}

// ArchiveLogPurge checks that a purge keeps the newest entry and leaves no gap except at the beginning. backdate sets the time at which
// the entries up to a version were logged.
func ArchiveLogPurge(t *testing.T, a store.Archive, backdate func(logged time.Time, upTo int64)) {
	g := settingsOf(t, guildA, "")
	for range 6 {
		put(t, a, g)
	}
	purge := func(limit, want int) {
		t.Helper()
		if n, err := a.Purge(t.Context(), limit, snapshot.Keep{Tombstones: time.Hour}); err != nil || n != want {
			t.Errorf("purged %d rows (%v), want %d", n, err, want)
		}
	}
	versions := func() (all []int64) {
		t.Helper()
		entries := mustGet(a.Changes(t.Context(), 0, 100))(t)
		for _, c := range entries {
			all = append(all, c.Version)
		}
		return all
	}
	purge(100, 0)
	long := time.Now().Add(-25 * time.Hour)
	backdate(long, 4)
	backdate(time.Now(), 2) // the clock was set back: entries 3 and 4 look older than 1 and 2
	purge(100, 0)
	backdate(long, 4)
	purge(3, 3)
	purge(100, 1)
	if got := fmt.Sprint(versions()); got != "[5 6]" {
		t.Errorf("versions %s are left, want 5 and 6", got)
	}
	backdate(long, 6)
	purge(100, 1)
	if got := fmt.Sprint(versions()); got != "[6]" {
		t.Errorf("versions %s are left, want the newest, 6", got)
	}
	if latest, err := a.LatestChange(t.Context()); err != nil || latest != 6 {
		t.Errorf("after the purge the latest change is %d (%v), want 6", latest, err)
	}
	if next := put(t, a, g); next.Version != 7 {
		t.Errorf("after the purge the next change has version %d, want 7", next.Version)
	}
}

func archiveManagers(t *testing.T, a store.Archive) {
	const owner, admin = id.User("200000000000000007"), id.User("200000000000000008")
	put(t, a, settingsOf(t, guildA, `,"adminIds":["200000000000000008","200000000000000009"]`))
	owned := settingsOf(t, guildB, "")
	owned.OwnerID, owned.AdminIDs = owner, []id.User{admin}
	put(t, a, owned)
	for user, want := range map[id.User][]id.Guild{owner: {guildB}, admin: {guildA, guildB}, "200000000000000009": {guildA}, "20000000000000000": nil, "300000000000000001": nil} {
		var got []id.Guild
		for _, g := range mustGet(a.ManagedBy(t.Context(), user, 10))(t) {
			got = append(got, g.ID)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s manages %v, want %v", user, got, want)
		}
	}
	if got := mustGet(a.ManagedBy(t.Context(), admin, 1))(t); len(got) != 1 || got[0].ID != guildA {
		t.Errorf("the first guild of an administrator is %v, want %s", got, guildA)
	}
}
