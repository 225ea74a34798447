package guild_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

var errAway = errors.New("the archive is away: password=hunter2")

// source is an archive of settings in memory that counts its calls and can be down.
type source struct {
	mu     sync.Mutex
	guilds map[id.Guild]string // guilds with their vanities
	away   bool
	asked  int
}

func (s *source) Guild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	vanity, ok := s.guilds[g]
	return s.answer(g, vanity, ok)
}

func (s *source) GuildByVanity(_ context.Context, vanity string) (*guild.Guild, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	for g, v := range s.guilds {
		if v == vanity {
			return s.answer(g, v, true)
		}
	}
	return s.answer("", "", false)
}

func (s *source) answer(g id.Guild, vanity string, ok bool) (*guild.Guild, error) {
	switch {
	case s.away:
		return nil, errAway
	case !ok:
		return nil, guild.ErrNotFound
	}
	return &guild.Guild{Settings: guild.Settings{ID: g, Vanity: guild.Vanity(vanity)}}, nil
}

func (s *source) goAway() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
}

// asks returns the number of calls since the last call of asks.
func (s *source) asks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked
	s.asked = 0
	return n
}

const (
	guildA id.Guild = "100000000000000001"
	guildB id.Guild = "100000000000000002"
)

func newCache() (*guild.Cache, *source) {
	s := &source{guilds: map[id.Guild]string{guildA: "gophers"}}
	return guild.NewCache(s, 10), s
}

func byID(t *testing.T, d *guild.Cache, g id.Guild) {
	t.Helper()
	if found, err := d.ByID(t.Context(), g); err != nil || found.ID != g {
		t.Errorf("the guild %s is found as %+v (%v)", g, found, err)
	}
}

func byVanity(t *testing.T, d *guild.Cache, vanity string, want id.Guild) {
	t.Helper()
	if found, err := d.ByVanity(t.Context(), vanity); err != nil || found.ID != want {
		t.Errorf("the vanity %s finds %+v (%v), want %s", vanity, found, err, want)
	}
}

// fails looks up a guild by its id or vanity, which must fail with this code.
func fails(t *testing.T, d *guild.Cache, name string, code fault.Code) {
	t.Helper()
	var err error
	var found *guild.Guild
	if g, bad := id.Parse[id.Guild](name); bad == nil {
		found, err = d.ByID(t.Context(), g)
	} else {
		found, err = d.ByVanity(t.Context(), name)
	}
	if !fault.Is(err, code) || found != nil {
		t.Errorf("%s finds %+v (%v), want code %v", name, found, err, code)
	}
}

func TestGuildsAndAbsencesAreCached(t *testing.T) {
	d, s := newCache()
	for range 3 {
		byVanity(t, d, "gophers", guildA)
		byID(t, d, guildA)
		fails(t, d, string(guildB), fault.NotFound)
		fails(t, d, "nobody", fault.NotFound)
	}
	if n := s.asks(); n != 4 {
		t.Errorf("the archive was asked %d times, want once for each name", n)
	}
	s.guilds[guildB] = "nobody"
	d.Changed(guildB)
	byID(t, d, guildB)
	byVanity(t, d, "nobody", guildB)
}

// Guilds that were cached before the archive went down are served, even if they changed just before.
func TestChangedGuildsAreServedWhileTheArchiveIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := newCache()
		s.guilds[guildB] = "new"
		byVanity(t, d, "gophers", guildA)
		d.Changed(guildA)
		d.Changed(guildB)
		d.Prefetch(t.Context(), guildB)
		synctest.Wait()
		s.goAway()
		byVanity(t, d, "gophers", guildA)
		byID(t, d, guildA)
		byVanity(t, d, "new", guildB)
		byID(t, d, guildB)
	})
}

func TestAVanityMovesToAnotherGuild(t *testing.T) {
	// The changes of the two guilds may arrive in either order.
	for _, order := range [][]id.Guild{{guildA, guildB}, {guildB, guildA}} {
		d, s := newCache()
		s.guilds[guildB] = ""
		byVanity(t, d, "gophers", guildA)
		byID(t, d, guildB)
		s.guilds[guildA], s.guilds[guildB] = "", "gophers"
		d.Changed(order[0])
		if found, err := d.ByVanity(t.Context(), "gophers"); err == nil && found.Vanity != "gophers" {
			t.Errorf("after the change of %s the vanity finds %+v, which lacks it", order[0], found)
		}
		d.Changed(order[1])
		byVanity(t, d, "gophers", guildB)
		if found, err := d.ByID(t.Context(), guildA); err != nil || found.Vanity != "" {
			t.Errorf("the guild that gave its vanity up is %+v (%v), want none", found, err)
		}
	}
}

// The guild was read again without its vanity, which still points to it.
func TestAStaleVanityFindsNothing(t *testing.T) {
	d, s := newCache()
	s.guilds[guildA] = "moved"
	byVanity(t, d, "moved", guildA)
	d.Changed(guildA)
	byID(t, d, guildA)
	s.guilds[guildA] = "other"
	// The cache has the guild as "moved", and the archive finds it as "other".
	fails(t, d, "other", fault.NotFound)
	d.Changed(guildA)
	byVanity(t, d, "other", guildA)
	fails(t, d, "moved", fault.NotFound)
}

func TestForgetAllDropsEverything(t *testing.T) {
	d, s := newCache()
	byVanity(t, d, "gophers", guildA)
	fails(t, d, string(guildB), fault.NotFound)
	s.guilds = map[id.Guild]string{guildB: "gophers"}
	d.ForgetAll()
	byVanity(t, d, "gophers", guildB)
	byID(t, d, guildB)
	fails(t, d, string(guildA), fault.NotFound)
}

func TestTheCacheServesWhileTheArchiveIsDown(t *testing.T) {
	d, s := newCache()
	byVanity(t, d, "gophers", guildA)
	fails(t, d, "nobody", fault.NotFound)
	s.guilds[guildB] = "late"
	s.away = true
	byVanity(t, d, "gophers", guildA)
	byID(t, d, guildA)
	fails(t, d, "nobody", fault.NotFound)
	fails(t, d, string(guildB), fault.Unavailable)
	fails(t, d, "late", fault.Unavailable)
	_, err := d.ByID(t.Context(), guildB)
	if f := fault.From(err); f.RetryAfter <= 0 || !errors.Is(err, errAway) || f.Message == f.Error() {
		t.Errorf("the error is %+v, want RetryAfter and a cause that is only in the log", f)
	}
	// A failure is not cached.
	s.away = false
	byID(t, d, guildB)
	byVanity(t, d, "late", guildB)
}
