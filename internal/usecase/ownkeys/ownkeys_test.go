package ownkeys_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/ownkeys"
)

const (
	guild1 id.Guild = "100000000000000001"
	guild2 id.Guild = "100000000000000002"
	userID id.User  = "200000000000000001"
	keyID           = "Abc123xyzZ09"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	user = ownkeys.User{ID: userID, Guilds: []id.Guild{guild1}}
)

// archive notes what it is asked for and answers with what a test gave it. storetest tests archives.
type archive struct {
	err     error
	asked   []string
	owned   []apikey.Owned
	lost    []string
	created apikey.Key
	rotated apikey.Rotation
}

func (a *archive) call(args ...any) error {
	a.asked = append(a.asked, strings.TrimSpace(fmt.Sprintln(args...)))
	return a.err
}

func (a *archive) OwnedKeys(_ context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error) {
	return a.owned, a.call("OwnedKeys", owner, hour, limit)
}

func (a *archive) KeyHistory(_ context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	return nil, a.call("KeyHistory", owner, before, limit)
}

func (a *archive) RenameKey(_ context.Context, keyID, name string, by apikey.Actor) error {
	return a.call("RenameKey", keyID, name, by)
}

func (a *archive) RotateKey(_ context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error {
	a.rotated = r
	return a.call("RotateKey", keyID, r.Overlap, by)
}

func (a *archive) KeepGrants(_ context.Context, owner id.User, guilds []id.Guild) ([]string, error) {
	return a.lost, a.call("KeepGrants", owner, guilds)
}

func (a *archive) CreateKey(_ context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	a.created = k
	return a.call("CreateKey", by, atMost)
}

func (a *archive) Grant(_ context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.call("Grant", keyID, g, by)
}

func (a *archive) Ungrant(_ context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.call("Ungrant", keyID, g, by)
}

func (a *archive) RevokeKey(_ context.Context, keyID string, by apikey.Actor) error {
	return a.call("RevokeKey", keyID, by)
}

type world struct {
	*testing.T
	*ownkeys.Profile
	archive   *archive
	announced []string
}

// Announce implements changes.Announcer.
func (w *world) Announce(_ context.Context, kind changes.Kind, subject string) {
	w.announced = append(w.announced, string(kind)+" "+subject)
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, archive: &archive{}}
	w.Profile = ownkeys.New(w.archive, w, func() time.Time { return noon })
	return w
}

func newKey(guilds ...id.Guild) ownkeys.NewKey {
	return ownkeys.NewKey{Name: "bot", Permission: apikey.ReadWrite, Lifetime: ownkeys.ThirtyDays, Guilds: guilds}
}

// useCases are all of them, with what each asks of the archive and which keys it announces.
var useCases = map[string]struct {
	do        func(w *world) error
	asks      string
	announces []string
}{
	"list":    {func(w *world) error { _, err := w.Keys(w.Context(), userID); return err }, fmt.Sprint("OwnedKeys ", userID, " ", apikey.HourOf(noon), " 1000"), nil},
	"history": {func(w *world) error { _, err := w.History(w.Context(), userID, 7, 3); return err }, "KeyHistory " + string(userID) + " 7 3", nil},
	"create": {func(w *world) error { _, _, err := w.Create(w.Context(), user, newKey(guild1)); return err },
		fmt.Sprintln("CreateKey", apikey.User(userID), 25), []string{"the new key"}},
	"rename": {func(w *world) error { return w.Rename(w.Context(), userID, keyID, "new") }, fmt.Sprintln("RenameKey", keyID, "new", apikey.User(userID)), []string{keyID}},
	"rotate": {func(w *world) error { _, err := w.Rotate(w.Context(), userID, keyID, ownkeys.OneDay); return err },
		fmt.Sprintln("RotateKey", keyID, 24*time.Hour, apikey.User(userID)), []string{keyID}},
	"delete":  {func(w *world) error { return w.Delete(w.Context(), userID, keyID) }, fmt.Sprintln("RevokeKey", keyID, apikey.User(userID)), []string{keyID}},
	"grant":   {func(w *world) error { return w.Grant(w.Context(), user, keyID, guild1) }, fmt.Sprintln("Grant", keyID, guild1, apikey.User(userID)), []string{keyID}},
	"ungrant": {func(w *world) error { return w.Ungrant(w.Context(), userID, keyID, guild2) }, fmt.Sprintln("Ungrant", keyID, guild2, apikey.User(userID)), []string{keyID}},
	"rights that were lost": {func(w *world) error { return w.Refreshed(w.Context(), user) }, fmt.Sprintln("KeepGrants", userID, user.Guilds),
		[]string{"lost1", "lost2"}},
}

func TestAChangeIsAnnouncedOnceItIsMade(t *testing.T) {
	for name, c := range useCases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.archive.lost = []string{"lost1", "lost2"}
			w.archive.err = errors.New("broken on demand")
			if err := c.do(w); !fault.Is(err, fault.Unavailable) || !errors.Is(err, w.archive.err) || strings.Contains(fault.From(err).Message, "broken") {
				t.Errorf("while the archive is away: %v", err)
			}
			if len(w.announced) > 0 {
				t.Errorf("announced %q, though nothing changed", w.announced)
			}
			w.archive.err, w.archive.asked = nil, nil
			if err := c.do(w); err != nil {
				t.Fatal(err)
			}
			if want := []string{strings.TrimSpace(c.asks)}; !slices.Equal(w.archive.asked, want) {
				t.Errorf("asked the archive for %q, want %q", w.archive.asked, want)
			}
			var want []string
			for _, key := range c.announces {
				want = append(want, string(changes.Key)+" "+strings.Replace(key, "the new key", w.archive.created.ID, 1))
			}
			if !slices.Equal(w.announced, want) {
				t.Errorf("announced %q, want %q", w.announced, want)
			}
		})
	}
}

func TestRefusalsOfTheArchiveAreFaults(t *testing.T) {
	for refusal, want := range map[error]fault.Code{
		apikey.ErrNotFound: fault.NotFound, guild.ErrNotFound: fault.NotFound, apikey.ErrTooMany: fault.Conflict, apikey.ErrExpired: fault.Conflict,
	} {
		w := newWorld(t)
		w.archive.err = fmt.Errorf("archive: %w", refusal)
		for name, c := range useCases {
			if err := c.do(w); !fault.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(w.announced) > 0 {
			t.Errorf("refusals are announced: %q", w.announced)
		}
	}
}

func TestANewKey(t *testing.T) {
	w := newWorld(t)
	secret, k, err := w.Create(t.Context(), user, newKey(guild1, guild1))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(secret, k.Shown) || k.Shown != "lb_"+k.ID {
		t.Errorf("%q is shown of the key %s", k.Shown, k.ID)
	}
	created := noon.UTC().Truncate(time.Millisecond)
	kept := w.archive.created
	if k.ID != kept.ID || k.Name != "bot" || k.Permission != apikey.ReadWrite || !k.CreatedAt.Equal(created) || !kept.CreatedAt.Equal(created) ||
		!k.ExpiresAt.Equal(created.Add(30*24*time.Hour)) || kept.ExpiresAt != k.ExpiresAt || k.Expired || k.OldUntil != nil || kept.OwnerID != userID {
		t.Errorf("shown %+v, kept %+v", k, kept)
	}
	if want := []apikey.Grant{{GuildID: guild1, By: apikey.User(userID)}}; !slices.Equal(k.Grants, want) || !slices.Equal(kept.GuildIDs, []id.Guild{guild1}) {
		t.Errorf("its grants are %+v, and kept are %v", k.Grants, kept.GuildIDs)
	}
	if !kept.Matches(secret, noon) {
		t.Error("the secret does not open the key")
	}
	second, err := w.Rotate(t.Context(), userID, k.ID, ownkeys.OneDay)
	if kept.Hash = w.archive.rotated.Hash; err != nil || !kept.Matches(second, noon) || kept.Matches(secret, noon) || !w.archive.rotated.Now.Equal(noon) {
		t.Errorf("a rotation: %+v, %v", w.archive.rotated, err)
	}
}

func TestAKeyIsListedAsItIs(t *testing.T) {
	w := newWorld(t)
	soon, later, past := noon.Add(time.Hour), noon.Add(2*time.Hour), noon.Add(-time.Hour)
	w.archive.owned = []apikey.Owned{
		{Key: apikey.Key{ID: "1", Old: []apikey.OldSecret{{Until: past}, {Until: later}, {Until: soon}}}, Requests: 7, LastUsed: &past},
		{Key: apikey.Key{ID: "2", ExpiresAt: &past, Old: []apikey.OldSecret{{Until: past}}}},
	}
	list, err := w.Keys(t.Context(), userID)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if k := list[0]; k.Expired || k.OldUntil == nil || !k.OldUntil.Equal(later) || k.Requests != 7 || !k.LastUsed.Equal(past) {
		t.Errorf("a key with an old secret: %+v", k)
	}
	if k := list[1]; !k.Expired || k.OldUntil != nil || k.LastUsed != nil {
		t.Errorf("an expired key: %+v", k)
	}
}

// None of it reaches the archive.
func TestWhatAUserMayNotHave(t *testing.T) {
	w := newWorld(t)
	create := func(change func(*ownkeys.NewKey)) error {
		n := newKey()
		change(&n)
		_, _, err := w.Create(t.Context(), user, n)
		return err
	}
	rotate := func(keyID string, overlap ownkeys.Overlap) error {
		_, err := w.Rotate(t.Context(), userID, keyID, overlap)
		return err
	}
	history := func(before int64, limit int) error {
		_, err := w.History(t.Context(), userID, before, limit)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"an empty name":              {create(func(n *ownkeys.NewKey) { n.Name = "" }), fault.Invalid},
		"a name that cannot be seen": {create(func(n *ownkeys.NewKey) { n.Name = " \u3000" }), fault.Invalid},
		"a name of two lines":        {create(func(n *ownkeys.NewKey) { n.Name = "a\nb" }), fault.Invalid},
		"a name that is too long":    {create(func(n *ownkeys.NewKey) { n.Name = strings.Repeat("a", apikey.MaxName+1) }), fault.Invalid},
		"a name that is not UTF-8":   {create(func(n *ownkeys.NewKey) { n.Name = "a\xff" }), fault.Invalid},
		"no permission":              {create(func(n *ownkeys.NewKey) { n.Permission = "" }), fault.Invalid},
		"no lifetime":                {create(func(n *ownkeys.NewKey) { n.Lifetime = 0 }), fault.Invalid},
		"a lifetime of 8 days":       {create(func(n *ownkeys.NewKey) { n.Lifetime = ownkeys.Lifetime(8 * 24 * time.Hour) }), fault.Invalid},
		"a guild of others":          {create(func(n *ownkeys.NewKey) { n.Guilds = []id.Guild{guild1, guild2} }), fault.Forbidden},
		"rename to nothing":          {w.Rename(t.Context(), userID, keyID, ""), fault.Invalid},
		"grant a guild of others":    {w.Grant(t.Context(), user, keyID, guild2), fault.Forbidden},
		"rotate what is no id":       {rotate("../secrets", ownkeys.NoOverlap), fault.NotFound},
		"an overlap of 2 hours":      {rotate(keyID, ownkeys.Overlap(2*time.Hour)), fault.Invalid},
		"a history of nothing":       {history(0, 0), fault.Invalid},
		"a history of too much":      {history(0, ownkeys.MaxHistory+1), fault.Invalid},
		"a history before it began":  {history(-1, 1), fault.Invalid},
	} {
		if !fault.Is(c.err, c.want) {
			t.Errorf("%s: %v, want a fault of code %d", name, c.err, c.want)
		}
	}
	if len(w.archive.asked)+len(w.announced) > 0 {
		t.Errorf("asked for %q, announced %q", w.archive.asked, w.announced)
	}
}

func TestChoices(t *testing.T) {
	for text, want := range map[string]time.Duration{"7": 7, "30": 30, "90": 90, "365": 365} {
		if l, err := ownkeys.ParseLifetime(text); err != nil || time.Duration(l) != want*24*time.Hour {
			t.Errorf("a lifetime of %s: %v, %v", text, l, err)
		}
	}
	if l, err := ownkeys.ParseLifetime("never"); err != nil || l != ownkeys.Never {
		t.Errorf("never: %v, %v", l, err)
	}
	for text, want := range map[string]time.Duration{"none": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour} {
		if o, err := ownkeys.ParseOverlap(text); err != nil || time.Duration(o) != want {
			t.Errorf("an overlap of %s: %v, %v", text, o, err)
		}
	}
	for _, text := range []string{"", "0", "07", "7 ", "-7", "2h", "Never", "none "} {
		if _, err := ownkeys.ParseLifetime(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("a lifetime of %q: %v", text, err)
		}
		if _, err := ownkeys.ParseOverlap(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("an overlap of %q: %v", text, err)
		}
	}
	w := newWorld(t)
	n := newKey()
	n.Lifetime = ownkeys.Never
	if _, k, err := w.Create(t.Context(), user, n); err != nil || k.ExpiresAt != nil {
		t.Errorf("a key for ever expires at %v, %v", k.ExpiresAt, err)
	}
}
