package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/store"
	"levelboard/internal/usecase/audit"
)

func archiveChange(t *testing.T, a store.Archive) {
	change := func(properties string) (*guild.Guild, error) {
		ctx := audit.With(t.Context(), audit.By{Actor: audit.TheOperator})
		return a.ChangeGuild(ctx, guildA, mustGet(guild.ParseChange(guildA, []byte(`{`+properties+`}`)))(t))
	}
	if _, err := change(`"name":"Moles"`); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("an unknown guild: %v, want guild.ErrNotFound", err)
	}
	put(t, a, settingsOf(t, guildB, `,"vanity":"moles"`))
	first := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers","xpPerMessageMin":30`))
	if g, err := change(`"vanity":"Badgers","adminIds":["200000000000000009"]`); err != nil || g.Vanity != "badgers" || len(g.AdminIDs) != 1 || g.XPPerMessageMin != 30 || g.Edited <= first.Edited {
		t.Errorf("the changed guild is %+v (%v), want the new vanity and manager, and the rest as before", g, err)
	}
	before := mustGet(a.Guild(t.Context(), guildA))(t)
	if _, err := change(`"vanity":"moles"`); !errors.Is(err, guild.ErrVanityTaken) {
		t.Errorf("another guild's vanity: %v, want guild.ErrVanityTaken", err)
	}
	if _, err := change(`"xpPerMessageMax":29`); !fault.Is(err, fault.Invalid) || !errors.Is(err, guild.ErrCrossed) {
		t.Errorf("a maximum below the stored minimum: %v, want guild.ErrCrossed", err)
	}
	if g, err := change(`"vanity":"BADGERS"`); err != nil || g.Version != before.Version {
		t.Errorf("a change to the same vanity made %+v (%v), want version %d", g, err, before.Version)
	}
	// What the guild's bot keeps up to date does not end a manager's edit, and the number of members makes no audit record.
	g, err := change(`"memberCount":77`)
	if err != nil || g.MemberCount != 77 || g.Version <= before.Version || g.Edited != before.Edited {
		t.Errorf("with a new member count the guild is %+v (%v), want 77, a new version and the same edit", g, err)
	}
	unread := func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, nil }
	records := mustGet(a.ReadAudit(t.Context(), guildA, audit.Query{Limit: 10}, unread))(t)
	if len(records) != 1 || string(records[0].After) != `{"adminIds":["200000000000000009"],"vanity":"badgers"}` {
		t.Errorf("the audit log is %+v, want one record with the vanity and the managers", records)
	}

	// Concurrent changes of different properties lose nothing.
	var group sync.WaitGroup
	for i, properties := range []string{`"name":"Voles"`, `"xpPerMessageMax":50`, `"xpGainInterval":20000`, `"enabled":false`, `"timeZone":"Europe/Berlin"`, `"ignoredUserIds":["200000000000000001"]`} {
		group.Go(func() {
			if _, err := change(properties + fmt.Sprintf(`,"memberCount":%d`, 100+i)); err != nil {
				t.Errorf("changing %s: %v", properties, err)
			}
		})
	}
	group.Wait()
	g = mustGet(a.Guild(t.Context(), guildA))(t)
	if g.Name != "Voles" || g.XPPerMessageMax != 50 || g.XPGainInterval != 20000 || g.Enabled || g.TimeZone != "Europe/Berlin" || len(g.IgnoredUserIDs) != 1 || g.Vanity != "badgers" {
		t.Errorf("after concurrent changes the guild is %+v, want all of them", g)
	}
}
