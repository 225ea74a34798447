package guilds_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/guilds"
)

const (
	guild1 id.Guild = "100000000000000001"
	owner  id.User  = "200000000000000001"
)

// world is the use cases on an archive that has guild1.
type world struct {
	*testing.T
	*guilds.Guilds
	archive   *archive
	announced int
}

// Announce counts the announcements of changes.
func (w *world) Announce(context.Context, changes.Kind, string) { w.announced++ }

func newWorld(t *testing.T) *world {
	w := &world{T: t, archive: &archive{fails: map[string]error{}, guild: &guild.Guild{Settings: settings(t, "Gophers"), Incarnation: 7}}}
	w.Guilds = guilds.New(w.archive, w)
	return w
}

func settings(t *testing.T, name string) guild.Settings {
	t.Helper()
	s, err := guild.Parse(guild1, []byte(`{"name":"`+name+`","memberCount":5,"ownerId":"`+string(owner)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changing are the use cases that change something: the archive's method behind each, and what it is asked for.
var changing = map[string]struct {
	do     func(w *world) error
	asks   string
	method string
}{
	"put a guild": {func(w *world) error {
		_, _, err := w.Put(w.Context(), settings(w.T, "Moles"))
		return err
	}, "PutGuild 100000000000000001 Moles", "PutGuild"},
	"change a guild": {func(w *world) error {
		change, err := guild.ParseChange(guild1, []byte(`{"name":"Badgers"}`))
		if err != nil {
			return err
		}
		_, err = w.Change(w.Context(), guild1, change)
		return err
	}, "ChangeGuild 100000000000000001 Badgers", "ChangeGuild"},
	"delete a guild": {func(w *world) error { return w.Delete(w.Context(), guild1) }, "DeleteGuild 100000000000000001", "DeleteGuild"},
}

var errBroken = errors.New("broken on demand")

func TestEveryChangeIsAnnouncedOnceItIsCommitted(t *testing.T) {
	for name, c := range changing {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.archive.fails[c.method] = errBroken
			f := fault.From(c.do(w))
			if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(f, errBroken) || strings.Contains(f.Message, "broken") {
				t.Errorf("with a broken archive: %v", f)
			}
			if w.announced != 0 {
				t.Error("a change that failed was announced")
			}
			delete(w.archive.fails, c.method)
			if err := c.do(w); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w.archive.changed, []string{c.asks}) || w.announced != 1 {
				t.Errorf("changed %q, announced %d times", w.archive.changed, w.announced)
			}
		})
	}
}

func TestReadsAnnounceNothing(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	read := func() []error {
		_, guildErr := w.Read(ctx, guild1)
		_, guildsErr := w.List(ctx, "", 10)
		return []error{guildErr, guildsErr}
	}
	if err := errors.Join(read()...); err != nil {
		t.Error(err)
	}
	w.archive.fails["*"] = errBroken
	for _, err := range read() {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("with a broken archive: %v", err)
		}
	}
	if w.announced+len(w.archive.changed) != 0 {
		t.Errorf("announced %d times, changed %q", w.announced, w.archive.changed)
	}
}

func TestRefusalsAreFaults(t *testing.T) {
	for refusal, want := range map[error]struct {
		code fault.Code
		says string
	}{
		guild.ErrNotFound: {fault.NotFound, "guild"}, guild.ErrVanityTaken: {fault.Conflict, "vanity"},
		guild.ErrSeasonClosed: {fault.Invalid, "season"}, guild.ErrTooLong: {fault.TooLarge, "settings"},
	} {
		w := newWorld(t)
		for name, c := range changing {
			w.archive.fails[c.method] = fmt.Errorf("archive: %w", refusal)
			if f := fault.From(c.do(w)); f == nil || f.Code != want.code || !strings.Contains(f.Message, want.says) {
				t.Errorf("%s: %v, want code %v about a %s", name, f, want.code, want.says)
			}
		}
		if w.announced != 0 {
			t.Errorf("%d refusals were announced", w.announced)
		}
	}
}

// A bot that puts its guilds whenever it starts changes nothing, and nobody has to read them again.
func TestAGuildPutAsItIsStaysAsItIs(t *testing.T) {
	w := newWorld(t)
	w.archive.guild = nil
	put := func(name string, wantCreated bool, wantAnnounced int) *guild.Guild {
		t.Helper()
		g, created, err := w.Put(t.Context(), settings(t, name))
		if err != nil || created != wantCreated || w.announced != wantAnnounced || len(w.archive.changed) != wantAnnounced {
			t.Fatalf("created: %v, %d announcements, changed %q, %v", created, w.announced, w.archive.changed, err)
		}
		return g
	}
	first := put("Gophers", true, 1)
	if again := put("Gophers", false, 1); again.Version != first.Version {
		t.Errorf("put again: %+v", again)
	}
	if changed := put("Moles", false, 2); changed.Name != "Moles" {
		t.Errorf("put with another name: %+v", changed)
	}
}
