package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store"
)

// named are a guild's settings that name a role twice and a channel once.
const named = `,"multipliers":[
	{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":2,"targets":[{"id":"300000000000000001","name":"help","position":3},{"id":"300000000000000002","name":"go"}]},
	{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":2,"targets":[{"id":"400000000000000001","name":"old","color":1}]}],
	"roleRewards":[{"id":"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":5,"roles":[{"id":"400000000000000002","name":"two"},{"id":"400000000000000001","name":"old"}]}]`

const (
	someRoles    = `"roles":[{"id":"400000000000000001","name":"nëw \"1\"","color":255,"position":9},{"id":"400000000000000009","name":"nine"}]`
	someChannels = `"channels":[{"id":"300000000000000001","name":"halp","parentId":"300000000000000009","position":4,"type":5}]`
)

func description(t *testing.T, properties ...string) guild.Description {
	t.Helper()
	return mustGet(guild.ParseDescription([]byte(`{` + strings.Join(properties, ",") + `}`)))(t)
}

func describe(t *testing.T, a store.Archive, wantShown bool, properties ...string) {
	t.Helper()
	if shown, err := a.Describe(t.Context(), guildA, description(t, properties...)); err != nil || shown != wantShown {
		t.Fatalf("describing %s: shown %v, %v; want %v", properties, shown, err, wantShown)
	}
}

func directoryOf(t *testing.T, a store.Archive) guild.Directory {
	t.Helper()
	return mustGet(a.Directory(t.Context(), guildA))(t)
}

func archiveDescribe(t *testing.T, a store.Archive) {
	if _, err := a.Describe(t.Context(), guildA, description(t, `"name":"x"`)); !errors.Is(err, guild.ErrNotFound) {
		t.Fatalf("describing an unknown guild: %v, want guild.ErrNotFound", err)
	}
	if d := directoryOf(t, a); len(d.Roles)+len(d.Channels) != 0 {
		t.Errorf("the directory of an unknown guild is %+v, want empty", d)
	}
	first := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	put(t, a, settingsOf(t, guildB, ""))
	describe(t, a, true, `"name":"Renamed","icon":"0123456789abcdef0123456789abcdef"`, someRoles)
	describe(t, a, true, `"memberCount":77`, someChannels)
	g := mustGet(a.Guild(t.Context(), guildA))(t)
	if g.Name != "Renamed" || g.Icon == nil || g.MemberCount != 77 || g.Vanity != "gophers" || g.Edited != first.Version || g.Version <= first.Version || g.Incarnation != first.Incarnation {
		t.Errorf("the description changed %+v to %+v, want a new name, icon, member count and version", first, g)
	}
	if logged := mustGet(a.Changes(t.Context(), g.Version-1, 10))(t); len(logged) != 1 || logged[0] != (changes.Change{Version: g.Version, Kind: changes.Guild, Subject: string(guildA)}) {
		t.Errorf("the description was logged as %+v, want one change of version %d", logged, g.Version)
	}
	_, want := description(t, someRoles, someChannels).In(guild.Settings{}, guild.Directory{})
	if d := directoryOf(t, a); !reflect.DeepEqual(d, want) {
		t.Errorf("the directory is\n%+v, want\n%+v", d, want)
	}
	describe(t, a, true, `"icon":null`, `"roles":[]`)
	if d := directoryOf(t, a); len(d.Roles) != 0 || !reflect.DeepEqual(d.Channels, want.Channels) {
		t.Errorf("described without roles, the directory is %+v, want the same channels", d)
	}
	if g, other := mustGet(a.Guild(t.Context(), guildA))(t), mustGet(a.Guild(t.Context(), guildB))(t); g.Icon != nil || g.Name != "Renamed" || other.Name == "Renamed" {
		t.Errorf("described without an icon, the guild is %+v beside %+v, want the old name and no icon", g, other)
	}
	put(t, a, settingsOf(t, guildA, ""))
	if g := mustGet(a.Guild(t.Context(), guildA))(t); g.Name == "Renamed" || len(directoryOf(t, a).Channels) != 1 {
		t.Errorf("after a put the guild is %+v, want a new name and the directory of before", g)
	}
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	put(t, a, settingsOf(t, guildA, ""))
	if d := directoryOf(t, a); len(d.Channels) != 0 {
		t.Errorf("the new guild has the old one's directory %+v", d)
	}
}

// namesOf returns the names in settings like the constant named.
func namesOf(s guild.Settings) string {
	m, r := s.Multipliers, s.RoleRewards[0].Roles
	return fmt.Sprintf("%s %s %s %s %s", m[0].Channels[0].Name, m[0].Channels[1].Name, m[1].Roles[0].Name, r[0].Name, r[1].Name)
}

func archiveNamed(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, named))
	describe(t, a, true, someRoles, someChannels)
	g := mustGet(a.Guild(t.Context(), guildA))(t)
	if got := namesOf(g.Settings); got != `halp go nëw "1" two nëw "1"` {
		t.Errorf("after the description the names are %s", got)
	}
	c, r := g.Multipliers[0].Channels[0], g.Multipliers[1].Roles[0]
	if c.Position != 4 || c.Type != 5 || c.ParentID == nil || r.Color == nil || *r.Color != 255 || r.Position != 9 {
		t.Errorf("after the description the channel is %+v and the role %+v", c, r)
	}
	edited := put(t, a, settingsOf(t, guildA, named))
	if got := namesOf(mustGet(a.Guild(t.Context(), guildA))(t).Settings); got != `halp go nëw "1" two nëw "1"` || got != namesOf(edited.Settings) {
		t.Errorf("after a put with other names they are %s, and the put answered %s", got, namesOf(edited.Settings))
	}
	updated := mustGet(a.UpdateGuild(t.Context(), settingsOf(t, guildA, named), edited.Edited))(t)
	if got := namesOf(updated.Settings); got != `halp go nëw "1" two nëw "1"` {
		t.Errorf("after an update with other names they are %s, want the directory's", got)
	}
	// A role or channel that leaves the directory keeps its last name.
	describe(t, a, true, `"channels":[{"id":"300000000000000002","name":"gopher"}],"roles":[]`)
	if got := namesOf(mustGet(a.Guild(t.Context(), guildA))(t).Settings); got != `halp gopher nëw "1" two nëw "1"` {
		t.Errorf("without the old roles and channels the names are %s", got)
	}
}

func archiveDescribedAlready(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, named))
	describe(t, a, true, `"name":"Renamed"`, someRoles, someChannels)
	before := mustGet(a.Guild(t.Context(), guildA))(t)
	for _, again := range [][]string{{}, {`"name":"Renamed"`}, {someRoles, someChannels}, {`"name":"Renamed"`, someChannels}} {
		describe(t, a, false, again...)
	}
	// A role that no page shows changes the directory and no page.
	describe(t, a, false, strings.TrimSuffix(someRoles, "]")+`,{"id":"400000000000000008","name":"eight"}]`)
	after, latest := mustGet(a.Guild(t.Context(), guildA))(t), mustGet(a.LatestChange(t.Context()))(t)
	if !reflect.DeepEqual(after, before) || latest != before.Version {
		t.Errorf("a role that no page shows made version %d of %d (latest %d), want no change", after.Version, before.Version, latest)
	}
	if d := directoryOf(t, a); len(d.Roles) != 3 {
		t.Errorf("the directory has the roles %+v, want three", d.Roles)
	}
}

func archiveDescribeAndEdit(t *testing.T, a store.Archive) {
	read := put(t, a, settingsOf(t, guildA, ""))
	describe(t, a, true, `"name":"Renamed","memberCount":77,"icon":"0123456789abcdef0123456789abcdef"`)
	updated, err := a.UpdateGuild(t.Context(), settingsOf(t, guildA, `,"xpPerMessageMax":100`), read.Edited)
	if err != nil || updated.XPPerMessageMax != 100 || updated.Name != "Renamed" || updated.MemberCount != 77 || updated.Icon == nil {
		t.Fatalf("the update of a manager who read before a description made %+v (%v), want both changes", updated, err)
	}
	if g := mustGet(a.Guild(t.Context(), guildA))(t); !reflect.DeepEqual(g, updated) {
		t.Errorf("the guild is read as %+v, want %+v", g, updated)
	}
	if _, err := a.UpdateGuild(t.Context(), settingsOf(t, guildA, ""), read.Edited); !errors.Is(err, guild.ErrChanged) {
		t.Errorf("the update of a manager who read before another update: %v, want guild.ErrChanged", err)
	}
}

// archiveDescribeRace describes different parts of a guild at once, while others edit it. No part is lost.
func archiveDescribeRace(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, ""))
	var group sync.WaitGroup
	for i := range 8 {
		for _, part := range []string{`"name":"name %d"`, `"memberCount":10%d`, `"roles":[{"id":"40000000000000000%d","name":"r"}]`, `"channels":[{"id":"30000000000000000%d","name":"c"}]`} {
			given := description(t, fmt.Sprintf(part, i))
			group.Go(func() {
				if _, err := a.Describe(t.Context(), guildA, given); err != nil {
					t.Errorf("describe: %v", err)
				}
			})
		}
		group.Go(func() {
			g, err := a.Guild(t.Context(), guildA)
			if err == nil {
				_, err = a.UpdateGuild(t.Context(), g.Settings, g.Edited)
			}
			if err != nil && !errors.Is(err, guild.ErrChanged) {
				t.Errorf("update: %v", err)
			}
		})
	}
	group.Wait()
	g, d := mustGet(a.Guild(t.Context(), guildA))(t), directoryOf(t, a)
	if !strings.HasPrefix(g.Name, "name ") || g.MemberCount < 100 || len(d.Roles) != 1 || len(d.Channels) != 1 {
		t.Errorf("after all the guild is %+v with %+v, want each part", g, d)
	}
}

func archiveDirectoryTooLong(t *testing.T, a store.Archive) {
	var targets, long []string
	for i := range 500 {
		targets = append(targets, fmt.Sprintf(`{"id":"400000000000000%03d","name":"r"}`, i))
		long = append(long, fmt.Sprintf(`{"id":"400000000000000%03d","name":%q}`, i, strings.Repeat("long", 100)))
	}
	rewards := `,"multipliers":[{"type":"Role","multiplier":2,"targets":[` + strings.Join(targets, ",") + `]}],"roleRewards":[{"level":5,"roles":[` +
		strings.Join(targets[:250], ",") + `]}]`
	longRoles := `"roles":[` + strings.Join(long, ",") + `]`
	before := put(t, a, settingsOf(t, guildA, rewards))
	if _, err := a.Describe(t.Context(), guildA, description(t, `"name":"Renamed"`, longRoles)); !errors.Is(err, guild.ErrTooLong) {
		t.Errorf("describing with long names: %v, want guild.ErrTooLong", err)
	}
	if g := mustGet(a.Guild(t.Context(), guildA))(t); !reflect.DeepEqual(g, before) || len(directoryOf(t, a).Roles) != 0 {
		t.Errorf("a refused description changed the guild to %+v", g)
	}
	put(t, a, settingsOf(t, guildA, ""))
	describe(t, a, false, longRoles)
	if _, _, err := a.PutGuild(t.Context(), settingsOf(t, guildA, rewards)); !errors.Is(err, guild.ErrTooLong) {
		t.Errorf("putting roles with long names: %v, want guild.ErrTooLong", err)
	}
}
