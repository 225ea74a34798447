package apikey_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// archive is a Source in memory that can be down and counts its calls.
type archive struct {
	mu    sync.Mutex
	keys  map[string]*apikey.Key
	down  error
	asked map[string]int
}

func (a *archive) Key(_ context.Context, keyID string) (*apikey.Key, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[keyID]++
	if a.down != nil {
		return nil, a.down
	}
	if k, ok := a.keys[keyID]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("key %s: %w", keyID, apikey.ErrNotFound)
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is a Cache over an archive with one key, at noon.
type world struct {
	archive *archive
	keys    *apikey.Cache
	secret  string
	key     *apikey.Key
	now     time.Time
}

func newWorld(t *testing.T) *world {
	secret, keyID, hash := mint(t)
	w := &world{
		archive: &archive{keys: map[string]*apikey.Key{}, asked: map[string]int{}},
		secret:  secret,
		key:     &apikey.Key{ID: keyID, Hash: hash, OwnerID: "100000000000000001", Permission: apikey.Read},
		now:     noon,
	}
	w.archive.keys[keyID] = w.key
	w.keys = apikey.NewCache(w.archive, 100, func() time.Time { return w.now }, nil)
	return w
}

func (w *world) expect(t *testing.T, presented string, want fault.Code) {
	t.Helper()
	k, err := w.keys.Authenticate(t.Context(), presented)
	if k != nil || !fault.Is(err, want) {
		t.Fatalf("authenticating returned the key %v and %v, want a fault of code %d", k, err, want)
	}
}

func (w *world) accepted(t *testing.T) *apikey.Key {
	t.Helper()
	k, err := w.keys.Authenticate(t.Context(), w.secret)
	if err != nil || k.ID != w.key.ID {
		t.Fatalf("authenticating returned %v (%v), want the key %s", k, err, w.key.ID)
	}
	return k
}

func TestEveryRefusedKeyIsTheSameFault(t *testing.T) {
	w := newWorld(t)
	unknown, _, _ := mint(t)
	stolenID, keyID, _ := mint(t)
	w.archive.keys[keyID] = &apikey.Key{ID: keyID, Hash: w.key.Hash}
	expired, expiredID, hash := mint(t)
	w.archive.keys[expiredID] = &apikey.Key{ID: expiredID, Hash: hash, ExpiresAt: &noon}

	for name, presented := range map[string]string{
		"missing": "", "malformed": "hello", "a typo": w.secret[:52] + "!",
		"unknown": unknown, "another secret": stolenID, "expired": expired,
	} {
		_, err := w.keys.Authenticate(t.Context(), presented)
		got := fault.From(err)
		const message = "The API key is missing or not valid. Send one that is neither revoked nor expired in the header X-Api-Key."
		if got == nil || got.Code != fault.Unauthenticated || got.Message != message {
			t.Errorf("%s: %v, want Unauthenticated with %q", name, err, message)
		}
		if presented != "" && strings.Contains(err.Error(), presented) {
			t.Errorf("%s: the error contains the key's text", name)
		}
	}
}

func TestACachedKeyExpires(t *testing.T) {
	w := newWorld(t)
	at := noon.Add(time.Hour)
	w.key.ExpiresAt = &at
	w.accepted(t)
	w.now = at
	w.expect(t, w.secret, fault.Unauthenticated)
}

func TestUnknownIDsAreRememberedUntilForgotten(t *testing.T) {
	w := newWorld(t)
	secret, keyID, hash := mint(t)
	for range 5 {
		w.expect(t, secret, fault.Unauthenticated)
	}
	if w.archive.asked[keyID] != 1 {
		t.Fatalf("the archive was asked %d times for one unknown id, want once", w.archive.asked[keyID])
	}
	w.archive.keys[keyID] = &apikey.Key{ID: keyID, Hash: hash}
	w.keys.Changed(keyID)
	if _, err := w.keys.Authenticate(t.Context(), secret); err != nil {
		t.Fatalf("after its creation the key is refused: %v", err)
	}
}

func TestInMemoryKnowsCachedAndMalformedKeys(t *testing.T) {
	w := newWorld(t)
	unknown, _, _ := mint(t)
	for _, presented := range []string{w.secret, unknown} {
		if w.keys.InMemory(presented) {
			t.Error("a key that was not looked up is in memory")
		}
		_, _ = w.keys.Authenticate(t.Context(), presented)
		if !w.keys.InMemory(presented) {
			t.Error("an unknown key that was looked up is not in memory")
		}
	}
	if !w.keys.InMemory("malformed") {
		t.Error("a malformed key is not in memory, so the archive would be asked")
	}
}

func TestUnknownIDsEvictNoKey(t *testing.T) {
	w := newWorld(t)
	w.accepted(t)
	for range 300 {
		secret, _, _ := mint(t)
		w.expect(t, secret, fault.Unauthenticated)
	}
	w.archive.down = errors.New("connection refused")
	w.accepted(t)
}

func TestARevokedKeyIsRefusedOnceForgotten(t *testing.T) {
	for name, forget := range map[string]func(*world){
		"Forget": func(w *world) { w.keys.Changed(w.key.ID) }, "ForgetAll": func(w *world) { w.keys.ForgetAll() },
	} {
		w := newWorld(t)
		w.accepted(t)
		delete(w.archive.keys, w.key.ID)
		forget(w)
		if _, err := w.keys.Authenticate(t.Context(), w.secret); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v, want Unauthenticated", name, err)
		}
	}
}

func TestAFailedLookupIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.archive.down = errors.New("connection refused")
	w.expect(t, w.secret, fault.Unavailable)
	_, err := w.keys.Authenticate(t.Context(), w.secret)
	if !errors.Is(err, w.archive.down) || strings.Contains(err.Error(), w.secret) {
		t.Fatalf("the error is %v, want the cause without the key", err)
	}
	w.archive.down = nil
	w.accepted(t)
}

func TestUnsortedGrantsAreFound(t *testing.T) {
	w := newWorld(t)
	numeric := []id.Guild{"99999999999999999", "100000000000000001", "100000000000000002"}
	w.key.GuildIDs = append([]id.Guild{}, numeric...)
	k := w.accepted(t)
	for _, g := range numeric {
		if !k.Granted(g) {
			t.Errorf("the key has no access to %s", g)
		}
	}
	if !reflect.DeepEqual(w.key.GuildIDs, numeric) {
		t.Errorf("the archive's list was changed to %v", w.key.GuildIDs)
	}
}
