package guildsettings_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/guildsettings"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	gophers id.Guild = "100000000000000001"
	moles   id.Guild = "100000000000000002"
)

var errBroken = errors.New("broken on demand")

// world is the use cases on a real archive; the announcer notes what it hears.
type world struct {
	*testing.T
	*guildsettings.Settings
	archive   *storetest.FaultyArchive
	announced []string
}

// Announce implements changes.Announcer.
func (w *world) Announce(_ context.Context, kind changes.Kind, subject string) {
	w.announced = append(w.announced, string(kind)+" "+subject)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	archive := storetest.SQLite(t)
	w := &world{T: t, archive: storetest.NewFaultyArchive(archive)}
	w.Settings = guildsettings.New(w.archive, nil, w)
	for g, vanity := range map[id.Guild]string{gophers: "gophers", moles: "moles"} {
		s, err := guild.Parse(g, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001","vanity":"`+vanity+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := archive.PutGuild(t.Context(), s); err != nil {
			t.Fatal(err)
		}
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
	if err != nil || len(wrong) > 0 {
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
	w.archive.Fail("UpdateGuild", errBroken)
	if _, err := w.Save(t.Context(), read, p); !fault.Is(err, fault.Unavailable) || !errors.Is(err, errBroken) {
		t.Errorf("with a broken archive: %v", err)
	}
	w.archive.Fail("UpdateGuild", nil)
	if len(w.announced) > 0 {
		t.Errorf("announced %q", w.announced)
	}
	saved, err := w.Save(t.Context(), read, p)
	if err != nil || saved.Vanity != "badgers" || saved.Version <= read.Version || len(w.announced) != 1 || w.announced[0] != "guild "+string(gophers) {
		t.Fatalf("saved %+v, %v, announced %q", saved, err, w.announced)
	}
	if again, err := w.Save(t.Context(), saved, w.propose(saved, set("vanity", `"BADGERS"`))); err != nil || again.Version != saved.Version || len(w.announced) != 1 {
		t.Errorf("what is so already was saved: %+v, %v, announced %q", again, err, w.announced)
	}
	for name, c := range map[string]struct {
		read  *guild.Guild
		given guildsettings.Given
		want  error
	}{
		"an older version": {read, set("enabled", "false"), guild.ErrChanged},
		"a taken vanity":   {saved, set("vanity", `"moles"`), guild.ErrVanityTaken},
	} {
		if _, err := w.Save(t.Context(), c.read, w.propose(c.read, c.given)); !errors.Is(err, c.want) || !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.archive.Fail("UpdateGuild", fmt.Errorf("update_guild: %w", guild.ErrSeasonClosed))
	if _, err := w.Save(t.Context(), saved, w.propose(saved, set("enabled", "false"))); !errors.Is(err, guild.ErrSeasonClosed) || !fault.Is(err, fault.Invalid) {
		t.Errorf("the dates of a season that has closed: %v", err)
	}
	w.archive.Fail("UpdateGuild", nil)
	if _, err := w.archive.DeleteGuild(t.Context(), gophers); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Save(t.Context(), saved, p); err != nil { // nothing to change
		t.Errorf("nothing to save: %v", err)
	}
	if _, err := w.Save(t.Context(), saved, w.propose(saved, set("enabled", "false"))); !fault.Is(err, fault.NotFound) {
		t.Errorf("a deleted guild: %v", err)
	}
	if len(w.announced) != 1 {
		t.Errorf("refusals were announced: %q", w.announced)
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
	w.archive.Fail(storetest.AllMethods, errBroken)
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
	for _, w := range wrong {
		got[w.Path] = w.Message
	}
	want := map[string]string{
		"xpPerMessageMin": "must be a whole number from 1 to 1000", "xpPerMessageMax": "must be a whole number from 1 to 1000, not a string",
		"curve":                "the curve must rise at every level: level 1 needs 0 XP, level 0 needs 0",
		"roleRewards[1].level": "must be a whole number from 0 to 10000", "multipliers": "must be an array, not an object",
		"roleRewards[2].roles[0].id": "must be a snowflake: a string of 17 to 19 digits, the first not 0",
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
