package guilds_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/guilds"
)

const (
	gophers id.Guild = "100000000000000001"
	moles   id.Guild = "100000000000000002"
)

var errBroken = errors.New("broken on demand")

// archive has guilds in memory, records the changes that it is asked for, and fails as a test says. storetest tests real archives.
type archive struct {
	guilds.Archive
	guilds  map[id.Guild]*guild.Guild
	changed []string
	silent  bool  // a description changes nothing
	err     error // fails every change
	readErr error
}

func (a *archive) Guild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	if a.guilds[g] == nil {
		return nil, errors.Join(guild.ErrNotFound, a.readErr)
	}
	return a.guilds[g], a.readErr
}

func (a *archive) GuildByVanity(_ context.Context, vanity string) (*guild.Guild, error) {
	for _, g := range a.guilds {
		if string(g.Vanity) == vanity {
			return g, a.readErr
		}
	}
	return nil, errors.Join(guild.ErrNotFound, a.readErr)
}

func (a *archive) Guilds(context.Context, id.Guild, int) ([]*guild.Guild, error) {
	return nil, a.readErr
}

func (a *archive) ManagedBy(context.Context, id.User, int) ([]*guild.Guild, error) {
	return nil, a.readErr
}

func (a *archive) Directory(context.Context, id.Guild) (guild.Directory, error) {
	return guild.Directory{}, a.readErr
}

// change records the call and keeps the settings.
func (a *archive) change(method string, s guild.Settings) (*guild.Guild, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.changed = append(a.changed, method+" "+string(s.ID)+" "+s.Name)
	next := &guild.Guild{Settings: s, Incarnation: 7, Version: int64(len(a.changed))}
	if before := a.guilds[s.ID]; before != nil {
		next.Edited = before.Edited + 1
	}
	a.guilds[s.ID] = next
	return next, nil
}

func (a *archive) PutGuild(_ context.Context, s guild.Settings) (*guild.Guild, bool, error) {
	created := a.guilds[s.ID] == nil
	g, err := a.change("PutGuild", s)
	return g, created && err == nil, err
}

func (a *archive) ChangeGuild(_ context.Context, g id.Guild, change guild.Change) (*guild.Guild, error) {
	s, err := change.In(a.guilds[g].Settings)
	if err != nil {
		return nil, err
	}
	return a.change("ChangeGuild", s)
}

func (a *archive) UpdateGuild(_ context.Context, s guild.Settings, edited int64) (*guild.Guild, error) {
	if a.err == nil && edited != a.guilds[s.ID].Edited {
		return nil, guild.ErrChanged
	}
	return a.change("UpdateGuild", s)
}

func (a *archive) Describe(_ context.Context, g id.Guild, given guild.Description) (bool, error) {
	s, _ := given.In(a.guilds[g].Settings, guild.Directory{})
	_, err := a.change("Describe", s)
	return err == nil && !a.silent, err
}

func (a *archive) DeleteGuild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	return a.change("DeleteGuild", a.guilds[g].Settings)
}

// world has the use cases on an archive with two guilds.
type world struct {
	*testing.T
	*guilds.Guilds
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
	w.Guilds = guilds.New(w.archive, nil, w)
	for g, name := range map[id.Guild]string{gophers: "Gophers", moles: "Moles"} {
		w.archive.guilds[g] = &guild.Guild{Settings: w.settings(g, name), Version: 1, Edited: 5}
	}
	return w
}

func (w *world) settings(g id.Guild, name string) guild.Settings {
	w.Helper()
	s, err := guild.Parse(g, []byte(`{"name":"`+name+`","memberCount":5,"ownerId":"200000000000000001","vanity":"`+strings.ToLower(name)+`"}`))
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) propose(property, value string) guilds.Proposal {
	w.Helper()
	p, wrong, err := guilds.Propose(w.archive.guilds[gophers].Settings, guilds.Given{property: jsontext.Value(value)})
	if err != nil || wrong.Len() > 0 {
		w.Fatalf("the property %s is refused: %v, %v", property, wrong, err)
	}
	return p
}

// changing are the use cases that change something, with their actor and the archive's method.
var changing = map[string]struct {
	by   guilds.Actor
	do   func(w *world) error
	asks string
}{
	"put": {guilds.Operator, func(w *world) error {
		_, _, err := w.Put(w.Context(), w.settings(gophers, "Badgers"))
		return err
	}, "PutGuild 100000000000000001 Badgers"},
	"change": {guilds.Operator, func(w *world) error {
		change, err := guild.ParseChange(gophers, []byte(`{"name":"Badgers"}`))
		if err != nil {
			return err
		}
		_, err = w.Change(w.Context(), gophers, change)
		return err
	}, "ChangeGuild 100000000000000001 Badgers"},
	"delete": {guilds.Operator, func(w *world) error { return w.Delete(w.Context(), gophers) }, "DeleteGuild 100000000000000001 Gophers"},
	"save": {guilds.Manager, func(w *world) error {
		read, p := w.archive.guilds[gophers], w.propose("vanity", `"badgers"`)
		saved, err := w.Save(w.Context(), read, p)
		if err == nil && saved.Vanity != "badgers" {
			err = fmt.Errorf("the saved guild is %+v, want the vanity badgers", saved)
		}
		return err
	}, "UpdateGuild 100000000000000001 Gophers"},
	"describe": {guilds.Manager, func(w *world) error {
		var given guild.Description
		if err := strictjson.Decode([]byte(`{"name":"Badgers"}`), &given); err != nil {
			return err
		}
		return w.Describe(w.Context(), gophers, given)
	}, "Describe 100000000000000001 Badgers"},
}

func TestEveryCommittedChangeIsAnnounced(t *testing.T) {
	for name, c := range changing {
		w := newWorld(t)
		w.archive.err = errBroken
		f := fault.From(c.do(w))
		if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(f, errBroken) || strings.Contains(f.Message, "broken") {
			t.Errorf("%s with a broken archive: %v, want Unavailable with the hidden cause", name, f)
		}
		if len(w.announced) > 0 {
			t.Errorf("%s failed, and %q was announced", name, w.announced)
		}
		w.archive.err = nil
		if err := c.do(w); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.archive.changed, []string{c.asks}) || !slices.Equal(w.announced, []string{"guild " + string(gophers)}) {
			t.Errorf("%s called %q and announced %q, want %s and one announcement", name, w.archive.changed, w.announced, c.asks)
		}
	}
}

// A refusal's message is worded for its reader, operator or manager.
func TestRefusalsAreWordedForTheActor(t *testing.T) {
	for refusal, want := range map[error]struct {
		code  fault.Code
		words [2]string // for the operator, for managers
	}{
		guild.ErrNotFound: {fault.NotFound, [2]string{"levelboard guild apply", "community"}}, guild.ErrChanged: {fault.Conflict, [2]string{"", "since you opened"}},
		guild.ErrVanityTaken:  {fault.Conflict, [2]string{"guild has this vanity", "community has this short name"}},
		guild.ErrSeasonClosed: {fault.Invalid, [2]string{"take the season out", "remove the season"}},
		guild.ErrTooLong:      {fault.TooLarge, [2]string{"262144 bytes. Shorten the lists.", "262144 bytes. Shorten the lists of multipliers"}},
	} {
		w := newWorld(t)
		w.archive.err, w.archive.readErr = fmt.Errorf("archive: %w", refusal), nil
		for name, c := range changing {
			f := fault.From(c.do(w))
			if f == nil || f.Code != want.code || !errors.Is(f, refusal) || !strings.Contains(f.Message, want.words[c.by]) {
				t.Errorf("%s refused with %v: %v, want %q", name, refusal, f, want.words[c.by])
			}
		}
		if len(w.announced) > 0 {
			t.Errorf("after the refusal %v, %q was announced", refusal, w.announced)
		}
	}
	for by, words := range map[guilds.Actor]string{guilds.Operator: "levelboard guild apply", guilds.Manager: "community"} {
		_, err := newWorld(t).Read(t.Context(), by, "100000000000000009")
		if f := fault.From(err); f.Code != fault.NotFound || !strings.Contains(f.Message, words) {
			t.Errorf("reading an unknown guild by actor %d: %v, want NotFound with %q", by, err, words)
		}
	}
}

func TestReadsAnnounceNothing(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	read := func() []error {
		_, guildErr := w.Read(ctx, guilds.Manager, gophers)
		_, listErr := w.List(ctx, "", 10)
		_, managedErr := w.ManagedBy(ctx, "200000000000000001")
		_, directoryErr := w.Directory(ctx, gophers)
		_, freeErr := w.Free(ctx, gophers, "moles")
		return []error{guildErr, listErr, managedErr, directoryErr, freeErr}
	}
	if err := errors.Join(read()...); err != nil {
		t.Error(err)
	}
	w.archive.readErr = errBroken
	for i, err := range read() {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("read %d with a broken archive: %v, want fault.Unavailable", i, err)
		}
	}
	if len(w.announced)+len(w.archive.changed) != 0 {
		t.Errorf("the reads announced %q and changed %q, want nothing", w.announced, w.archive.changed)
	}
}

// A bot that puts and describes its guilds at each start changes nothing, so no cache is dropped.
func TestUnchangedGuildsAreNotAnnounced(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	read := w.archive.guilds[gophers]
	if g, created, err := w.Put(ctx, w.settings(gophers, "Gophers")); err != nil || created || g.Version != read.Version {
		t.Errorf("the same put again: %+v, created %v (%v), want version %d", g, created, err, read.Version)
	}
	if _, err := w.Save(ctx, read, w.propose("vanity", `"GOPHERS"`)); err != nil {
		t.Errorf("saving equal settings: %v, want none", err)
	}
	if len(w.archive.changed) > 0 {
		t.Errorf("equal settings called %q", w.archive.changed)
	}
	w.archive.silent = true
	if err := changing["describe"].do(w); err != nil || len(w.announced) > 0 {
		t.Errorf("an equal description: %v, announced %q, want nothing", err, w.announced)
	}
	if _, created, err := w.Put(ctx, w.settings("100000000000000003", "Voles")); err != nil || !created || len(w.announced) != 1 {
		t.Errorf("putting a new guild: created %v (%v), announced %q, want one announcement", created, err, w.announced)
	}
}

func TestAConcurrentChangeIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	read, p := w.archive.guilds[gophers], w.propose("enabled", "false")
	if err := changing["save"].do(w); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Save(t.Context(), read, p); !errors.Is(err, guild.ErrChanged) {
		t.Errorf("saving over a concurrent change: %v, want guild.ErrChanged", err)
	}
}

func TestTheArchiveIsAskedWhetherAVanityIsFree(t *testing.T) {
	w := newWorld(t)
	for vanity, want := range map[string]bool{"gophers": true, "moles": false, "badgers": true} {
		if free, err := w.Free(t.Context(), gophers, vanity); err != nil || free != want {
			t.Errorf("%s is free: %v (%v), want %v", vanity, free, err, want)
		}
	}
}
