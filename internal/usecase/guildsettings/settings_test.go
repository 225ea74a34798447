package guildsettings_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/guildsettings"
)

const (
	gophers id.Guild = "100000000000000001"
	moles   id.Guild = "100000000000000002"
)

var errBroken = errors.New("broken on demand")

// archive has guilds in memory, and fails as a test says. storetest tests archives.
type archive struct {
	guildsettings.Archive
	guilds map[id.Guild]*guild.Guild
	err    error
}

func (a *archive) Guild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	return a.guilds[g], a.err
}

func (a *archive) GuildByVanity(_ context.Context, vanity string) (*guild.Guild, error) {
	for _, g := range a.guilds {
		if string(g.Vanity) == vanity {
			return g, a.err
		}
	}
	return nil, cmp.Or(a.err, guild.ErrNotFound)
}

func (a *archive) UpdateGuild(_ context.Context, s guild.Settings, edited int64) (*guild.Guild, error) {
	before := a.guilds[s.ID]
	if a.err != nil || edited != before.Edited {
		return nil, cmp.Or(a.err, guild.ErrChanged)
	}
	a.guilds[s.ID] = &guild.Guild{Settings: s, Version: before.Version + 1, Edited: before.Edited + 1}
	return a.guilds[s.ID], nil
}

// world is the use cases; the announcer notes what it hears.
type world struct {
	*testing.T
	*guildsettings.Settings
	archive   *archive
	announced []string
}

// Announce implements changes.Announcer.
func (w *world) Announce(_ context.Context, kind changes.Kind, subject string) {
	w.announced = append(w.announced, string(kind)+" "+subject)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, archive: &archive{guilds: map[id.Guild]*guild.Guild{}}}
	w.Settings = guildsettings.New(w.archive, nil, w)
	for g, vanity := range map[id.Guild]string{gophers: "gophers", moles: "moles"} {
		s, err := guild.Parse(g, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001","vanity":"`+vanity+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		w.archive.guilds[g] = &guild.Guild{Settings: s, Version: 1, Edited: 5}
	}
	return w
}

func (w *world) read() *guild.Guild {
	w.Helper()
	g, err := w.Read(w.Context(), gophers)
	if err != nil {
		w.Fatal(err)
	}
	return g
}

func (w *world) propose(g *guild.Guild, given guildsettings.Given) guildsettings.Proposal {
	w.Helper()
	p, wrong, err := guildsettings.Propose(g.Settings, given)
	if err != nil || wrong.Len() > 0 {
		w.Fatalf("%v: %v, %v", given, wrong, err)
	}
	return p
}

func set(property, value string) guildsettings.Given {
	return guildsettings.Given{property: jsontext.Value(value)}
}

func TestASaveIsAnnouncedOnceItIsCommitted(t *testing.T) {
	w := newWorld(t)
	read := w.read()
	p := w.propose(read, set("vanity", `"badgers"`))
	for refusal, want := range map[error]fault.Code{
		errBroken: fault.Unavailable, guild.ErrChanged: fault.Conflict, guild.ErrVanityTaken: fault.Conflict, guild.ErrSeasonClosed: fault.Invalid,
		guild.ErrTooLong: fault.TooLarge, guild.ErrNotFound: fault.NotFound,
	} {
		w.archive.err = fmt.Errorf("update_guild: %w", refusal)
		if _, err := w.Save(t.Context(), read, p); !fault.Is(err, want) || !errors.Is(err, refusal) {
			t.Errorf("%v: %v", refusal, err)
		}
		if _, err := w.Save(t.Context(), read, w.propose(read, set("vanity", `"GOPHERS"`))); err != nil { // nothing to change
			t.Errorf("nothing to save: %v", err)
		}
	}
	w.archive.err = nil
	if len(w.announced) > 0 {
		t.Errorf("announced %q", w.announced)
	}
	saved, err := w.Save(t.Context(), read, p)
	if err != nil || saved.Vanity != "badgers" || saved.Version <= read.Version || len(w.announced) != 1 || w.announced[0] != "guild "+string(gophers) {
		t.Fatalf("saved %+v, %v, announced %q", saved, err, w.announced)
	}
	if _, err := w.Save(t.Context(), read, w.propose(read, set("enabled", "false"))); !errors.Is(err, guild.ErrChanged) {
		t.Errorf("saved over a change in between: %v", err)
	}
}

// Who owns a guild and who administers it decides who may be here.
func TestAManagerCannotSetWhatIsTheOperators(t *testing.T) {
	w := newWorld(t)
	read := w.read()
	for property, value := range map[string]string{
		"ownerId": `"300000000000000001"`, "adminIds": `["300000000000000001"]`, "name": `"Moles"`, "icon": `null`, "memberCount": `7`,
		"id": `"100000000000000002"`, "incarnation": `1`,
	} {
		given := set("enabled", "true")
		given[property] = jsontext.Value(value)
		if _, wrong, err := guildsettings.Propose(read.Settings, given); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v, %v", property, wrong, err)
		}
	}
}

func TestTheArchiveIsAskedWhetherAVanityIsFree(t *testing.T) {
	w := newWorld(t)
	for vanity, want := range map[string]bool{"gophers": true, "moles": false, "badgers": true} {
		if free, err := w.Free(t.Context(), gophers, vanity); err != nil || free != want {
			t.Errorf("%s: %v, %v", vanity, free, err)
		}
	}
	w.archive.err = errBroken
	if _, err := w.Free(t.Context(), gophers, "moles"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with a broken archive: %v", err)
	}
	if _, err := w.Read(t.Context(), gophers); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with a broken archive: %v", err)
	}
}

func TestEverythingThatIsWrongIsSaid(t *testing.T) {
	w := newWorld(t)
	_, wrong, err := guildsettings.Propose(w.read().Settings, guildsettings.Given{
		"xpPerMessageMin": jsontext.Value(`0`), "xpPerMessageMax": jsontext.Value(`"x"`), "curve": jsontext.Value(`[0,0]`),
		"roleRewards": jsontext.Value(`[{"level":1,"roles":[]},{"level":-1,"roles":[]},{"level":2,"roles":[{"id":"1","name":"x"}]}]`),
		"multipliers": jsontext.Value(`{}`), "enabled": jsontext.Value(`false`), "timeZone": jsontext.Value(`"Local"`), "periods": jsontext.Value(`["year"]`),
		"seasons": jsontext.Value(`[{"id":"a","name":"A","start":"2026-01-01","end":"2026-02-01"},{"id":"B","name":"B","start":"2026-03-01","end":"2026-04-01"},
			{"id":"c","name":"C","start":"2026-05-01","end":"2026-05-01"}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, w := range wrong.Faults {
		got[w.Path] = w.Rule()
	}
	want := map[string]string{
		"xpPerMessageMin": "must be a whole number from 1 to 1000", "xpPerMessageMax": "must be a whole number from 1 to 1000, not a string",
		"curve":                "the curve must rise at every level: level 1 needs 0 XP, level 0 needs 0",
		"roleRewards[1].level": "must be a whole number from 0 to 10000", "multipliers": "must be an array, not an object",
		"roleRewards[2].roles[0].id": "must be 17 to 19 digits, the first not 0",
		"timeZone":                   "must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC",
		"periods[0]":                 `must be "day", "week" or "month"`,
		"seasons[1].id":              "must be 1 to 32 of a to z, 0 to 9 and -",
		"seasons[2].end":             "must be 1 to 400 days after start, which is 2026-05-01; it is the first day after the season",
	}
	if len(got) != len(want) {
		t.Errorf("%d things are wrong, want %d: %v", len(got), len(want), got)
	}
	for path, message := range want {
		if got[path] != message {
			t.Errorf("%s: %q, want %q", path, got[path], message)
		}
	}
}
