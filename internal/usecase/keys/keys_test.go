package keys_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/keys"
)

const (
	guild1 id.Guild = "100000000000000001"
	guild2 id.Guild = "100000000000000002"
	userID id.User  = "200000000000000001"
	keyID           = "Abc123xyzZ09"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	user = keys.User(userID, guild1)
)

// archive records its calls and answers as a test says. storetest tests real archives.
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

func (a *archive) Keys(_ context.Context, after string, limit int) ([]*apikey.Key, error) {
	return nil, a.call("Keys", after, limit)
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
	*keys.Keys
	archive   *archive
	announced []string
}

// Announce implements changes.Announcer.
func (w *world) Announce(_ context.Context, kind changes.Kind, subject string) {
	w.announced = append(w.announced, string(kind)+" "+subject)
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, archive: &archive{}}
	w.Keys = keys.New(w.archive, w, func() time.Time { return noon })
	return w
}

func newKey(guilds ...id.Guild) apikey.NewKey {
	return apikey.NewKey{Name: "bot", OwnerID: userID, Permission: apikey.ReadWrite, GuildIDs: guilds}
}

// useCase is a use case with its call of the archive and the keys that it announces.
type useCase struct {
	do        func(w *world) error
	asks      []any
	announces []string
}

// changesBy returns the changes that the operator and a user with a limit of keys make.
func changesBy(by keys.By, atMost int) map[string]useCase {
	return map[string]useCase{
		"create": {func(w *world) error { _, _, err := w.Create(w.Context(), by, newKey(guild1)); return err },
			[]any{"CreateKey", by.Actor, atMost}, []string{"the new key"}},
		"rename":  {func(w *world) error { return w.Rename(w.Context(), by, keyID, "new") }, []any{"RenameKey", keyID, "new", by.Actor}, []string{keyID}},
		"rotate":  {func(w *world) error { _, err := w.Rotate(w.Context(), by, keyID, time.Hour); return err }, []any{"RotateKey", keyID, time.Hour, by.Actor}, []string{keyID}},
		"revoke":  {func(w *world) error { return w.Revoke(w.Context(), by, keyID) }, []any{"RevokeKey", keyID, by.Actor}, []string{keyID}},
		"grant":   {func(w *world) error { return w.Grant(w.Context(), by, keyID, guild1) }, []any{"Grant", keyID, guild1, by.Actor}, []string{keyID}},
		"ungrant": {func(w *world) error { return w.Ungrant(w.Context(), by, keyID, guild2) }, []any{"Ungrant", keyID, guild2, by.Actor}, []string{keyID}},
	}
}

// useCases are all use cases by actor.
var useCases = map[string]map[string]useCase{
	"operator": changesBy(keys.Operator, 0), "user": changesBy(user, keys.MaxKeys),
	"operator who reads": {"list": {func(w *world) error { _, err := w.All(w.Context(), "a", 3); return err }, []any{"Keys", "a", 3}, nil}},
	"user who reads": {
		"list":    {func(w *world) error { _, err := w.Owned(w.Context(), userID); return err }, []any{"OwnedKeys", userID, apikey.HourOf(noon), 1000}, nil},
		"history": {func(w *world) error { _, err := w.History(w.Context(), userID, 7, 3); return err }, []any{"KeyHistory", userID, 7, 3}, nil},
	},
	"sign-in": {"rights that were lost": {func(w *world) error { return w.Refreshed(w.Context(), user) }, []any{"KeepGrants", userID, user.Guilds}, []string{"lost1", "lost2"}}},
}

// each runs a test of every use case of every actor.
func each(t *testing.T, test func(t *testing.T, c useCase)) {
	for who, cases := range useCases {
		for name, c := range cases {
			t.Run(who+"/"+name, func(t *testing.T) { test(t, c) })
		}
	}
}

func TestEveryCommittedChangeIsAnnounced(t *testing.T) {
	each(t, func(t *testing.T, c useCase) {
		w := newWorld(t)
		w.archive.lost = []string{"lost1", "lost2"}
		w.archive.err = errors.New("broken on demand")
		if err := c.do(w); !fault.Is(err, fault.Unavailable) || !errors.Is(err, w.archive.err) || strings.Contains(fault.From(err).Message, "broken") {
			t.Errorf("with a failing archive: %v, want fault.Unavailable with the hidden cause", err)
		}
		if len(w.announced) > 0 {
			t.Errorf("%q was announced, though nothing changed", w.announced)
		}
		w.archive.err, w.archive.asked = nil, nil
		if err := c.do(w); err != nil {
			t.Fatal(err)
		}
		if want := []string{strings.TrimSpace(fmt.Sprintln(c.asks...))}; !slices.Equal(w.archive.asked, want) {
			t.Errorf("the archive was called with %q, want %q", w.archive.asked, want)
		}
		var want []string
		for _, key := range c.announces {
			want = append(want, string(changes.Key)+" "+strings.Replace(key, "the new key", w.archive.created.ID, 1))
		}
		if !slices.Equal(w.announced, want) {
			t.Errorf("%q was announced, want %q", w.announced, want)
		}
	})
}

func TestRefusalsOfTheArchiveAreFaults(t *testing.T) {
	for refusal, want := range map[error]fault.Code{
		apikey.ErrNotFound: fault.NotFound, guild.ErrNotFound: fault.NotFound, apikey.ErrTooMany: fault.Conflict, apikey.ErrExpired: fault.Conflict,
	} {
		each(t, func(t *testing.T, c useCase) {
			w := newWorld(t)
			w.archive.err = fmt.Errorf("archive: %w", refusal)
			if err := c.do(w); !fault.Is(err, want) || len(w.announced) > 0 {
				t.Errorf("the refusal is %v with %q announced, want code %d and nothing", err, w.announced, want)
			}
		})
	}
}

// The operator can do other things after a refusal than a user.
func TestRefusalsAreWordedForTheActor(t *testing.T) {
	for refusal, says := range map[error]map[string]string{
		apikey.ErrNotFound: {"operator": "levelboard key list", "user": "You have no key"}, guild.ErrNotFound: {"operator": "levelboard guild apply", "user": "Ask whoever"},
	} {
		for who, want := range says {
			w := newWorld(t)
			w.archive.err = refusal
			if f := fault.From(useCases[who]["grant"].do(w)); !strings.Contains(f.Message, want) {
				t.Errorf("after %v %s reads %q, want %q in it", refusal, who, f.Message, want)
			}
		}
	}
}

func TestANewKeyCanBeRotated(t *testing.T) {
	for who, by := range map[string]keys.By{"operator": keys.Operator, "user": user} {
		w := newWorld(t)
		n := newKey(guild1, guild1)
		n.ExpiresAt, n.RateLimit = new(noon.Add(time.Hour)), new(7)
		secret, k, err := w.Create(t.Context(), by, n)
		if err != nil {
			t.Fatal(err)
		}
		want := apikey.Key{
			ID: k.ID, Hash: k.Hash, Name: "bot", OwnerID: userID, Permission: apikey.ReadWrite, GuildIDs: []id.Guild{guild1},
			CreatedAt: noon.UTC().Truncate(time.Millisecond), ExpiresAt: n.ExpiresAt, RateLimit: n.RateLimit,
		}
		if kept := w.archive.created; !reflect.DeepEqual(kept, want) || !reflect.DeepEqual(k.Key, kept) || !kept.Matches(secret, noon) || strings.Contains(fmt.Sprintf("%+v", k), secret) {
			t.Errorf("%s: created %+v and stored %+v, want %+v without the secret", who, k, kept, want)
		}
		if want := []apikey.Grant{{GuildID: guild1, By: by.Actor}}; !slices.Equal(k.Grants, want) {
			t.Errorf("%s: the new key's grants are %+v, want %+v", who, k.Grants, want)
		}
		second, err := w.Rotate(t.Context(), by, k.ID, time.Hour)
		if k.Hash = w.archive.rotated.Hash; err != nil || !k.Matches(second, noon) || k.Matches(secret, noon) || !w.archive.rotated.Now.Equal(noon) {
			t.Errorf("%s: the rotation stored %+v (%v), want the new secret's hash at %v", who, w.archive.rotated, err, noon)
		}
	}
	w := newWorld(t)
	n := newKey()
	n.OwnerID = "200000000000000009"
	if _, k, err := w.Create(t.Context(), user, n); err != nil || k.OwnerID != userID {
		t.Errorf("a user created a key of %s (%v), want their own", k.OwnerID, err)
	}
}

// No invalid request reaches the archive.
func TestInvalidRequestsAreRefused(t *testing.T) {
	w := newWorld(t)
	create := func(by keys.By, name string, guilds ...id.Guild) error {
		n := newKey(guilds...)
		n.Name = name
		_, _, err := w.Create(t.Context(), by, n)
		return err
	}
	history := func(before int64, limit int) error {
		_, err := w.History(t.Context(), userID, before, limit)
		return err
	}
	_, noID := w.Rotate(t.Context(), user, "../secrets", 0)
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"an empty name":             {create(user, ""), fault.Invalid},
		"a name with a line end":    {create(keys.Operator, "a\nb"), fault.Invalid},
		"a guild of others":         {create(user, "a", guild1, guild2), fault.Forbidden},
		"rename to nothing":         {w.Rename(t.Context(), user, keyID, ""), fault.Invalid},
		"grant a guild of others":   {w.Grant(t.Context(), user, keyID, guild2), fault.Forbidden},
		"rotate an invalid id":      {noID, fault.NotFound},
		"a history of 0 records":    {history(0, 0), fault.Invalid},
		"a history of 101 records":  {history(0, 101), fault.Invalid},
		"a history before number 0": {history(-1, 1), fault.Invalid},
	} {
		if !fault.Is(c.err, c.want) {
			t.Errorf("%s: %v, want a fault of code %d", name, c.err, c.want)
		}
	}
	if len(w.archive.asked)+len(w.announced) > 0 {
		t.Errorf("invalid requests called the archive with %q and announced %q", w.archive.asked, w.announced)
	}
}

func TestLifetimesAndOverlapsAreParsed(t *testing.T) {
	for text, days := range map[string]int{"7": 7, "30": 30, "90": 90, "365": 365} {
		want := noon.UTC().Truncate(time.Millisecond).Add(time.Duration(days) * 24 * time.Hour)
		if at, err := keys.ParseExpiry(text, noon); err != nil || !at.Equal(want) {
			t.Errorf("a key for %s days expires at %v (%v), want %v", text, at, err, want)
		}
	}
	if at, err := keys.ParseExpiry("never", noon); err != nil || at != nil {
		t.Errorf("a key that never expires has the expiry %v (%v), want none", at, err)
	}
	for text, want := range map[string]time.Duration{"none": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour} {
		if o, err := keys.ParseOverlap(text); err != nil || o != want {
			t.Errorf("the overlap %s is %v (%v), want %v", text, o, err, want)
		}
	}
	for _, text := range []string{"", "0", "07", "7 ", "-7", "2h", "Never", "none "} {
		if _, err := keys.ParseExpiry(text, noon); !fault.Is(err, fault.Invalid) {
			t.Errorf("the lifetime %q: %v, want fault.Invalid", text, err)
		}
		if _, err := keys.ParseOverlap(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("the overlap %q: %v, want fault.Invalid", text, err)
		}
	}
}
