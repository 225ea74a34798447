package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/store"
)

func rotate(t *testing.T, a store.Archive, now time.Time, overlap time.Duration) (secret string) {
	t.Helper()
	secret, hash := apikey.Mint(keyOne)
	must(t, a.RotateKey(t.Context(), keyOne, apikey.Rotation{Hash: hash, Now: now, Overlap: overlap}, byA()))
	return secret
}

func wantWorks(t *testing.T, a store.Archive, now time.Time, works string, secrets ...string) {
	t.Helper()
	k := mustGet(a.Key(t.Context(), keyOne))(t)
	got := ""
	for i, s := range secrets {
		if k.Matches(s, now) {
			got += fmt.Sprint(i)
		}
	}
	if got != works {
		t.Errorf("the secrets %q work, want %q", got, works)
	}
}

func archiveRotations(t *testing.T, a store.Archive) {
	now := time.Now().Truncate(time.Millisecond)
	first, hash := apikey.Mint(keyOne)
	k := aKey(keyOne)
	k.Hash, k.ExpiresAt = hash, new(now.Add(300*24*time.Hour))
	put(t, a, settingsOf(t, guildA, ""))
	must(t, a.CreateKey(t.Context(), k, byA(), 0))
	must(t, a.Grant(t.Context(), keyOne, guildA, byA()))
	second := rotate(t, a, now, 24*time.Hour)
	wantWorks(t, a, now, "01", first, second)
	wantWorks(t, a, now.Add(24*time.Hour-time.Millisecond), "01", first, second)
	wantWorks(t, a, now.Add(24*time.Hour), "1", first, second)

	// A later rotation may shorten an earlier one's overlap, never extend it.
	third := rotate(t, a, now.Add(time.Hour), time.Hour)
	wantWorks(t, a, now.Add(time.Hour), "012", first, second, third)
	wantWorks(t, a, now.Add(2*time.Hour), "2", first, second, third)
	fourth := rotate(t, a, now.Add(time.Hour), 7*24*time.Hour)
	wantWorks(t, a, now.Add(2*time.Hour), "23", first, second, third, fourth)
	fifth := rotate(t, a, now.Add(time.Hour), 0)
	wantWorks(t, a, now.Add(time.Hour), "4", first, second, third, fourth, fifth)

	after, err := a.Key(t.Context(), keyOne)
	if err != nil || after.Name != k.Name || !after.ExpiresAt.Equal(*k.ExpiresAt) || !after.Granted(guildA) || after.Old != nil {
		t.Errorf("after rotations the key is %+v (%v), want its name, expiry and grant, and no old secret", after, err)
	}
	_, hash = apikey.Mint(keyOne)
	r := apikey.Rotation{Hash: hash, Now: *k.ExpiresAt}
	if err := a.RotateKey(t.Context(), keyOne, r, byA()); !errors.Is(err, apikey.ErrExpired) {
		t.Errorf("rotating an expired key: %v, want apikey.ErrExpired", err)
	}
	if err := a.RotateKey(t.Context(), keyTwo, r, byA()); !errors.Is(err, apikey.ErrNotFound) {
		t.Errorf("rotating an unknown key: %v, want apikey.ErrNotFound", err)
	}
	wantWorks(t, a, now, "0", fifth)
}

func archiveOldSecrets(t *testing.T, a store.Archive) {
	now := time.Now().Truncate(time.Millisecond)
	withKeys(t, a, keyOne)
	secrets := []string{rotate(t, a, now, 0)}
	for range apikey.MaxOldSecrets + 1 {
		secrets = append(secrets, rotate(t, a, now, time.Hour))
	}
	k, err := a.Key(t.Context(), keyOne)
	if err != nil || len(k.Old) != apikey.MaxOldSecrets {
		t.Fatalf("%d old secrets are kept (%v), want %d", len(k.Old), err, apikey.MaxOldSecrets)
	}
	last := len(secrets) - 1
	wantWorks(t, a, now, "01", secrets[last-1], secrets[last])

	// Repeating a rotation whose answer was lost changes nothing.
	_, hash := apikey.Mint(keyOne)
	before := mustGet(a.LatestChange(t.Context()))(t)
	for range 2 {
		r := apikey.Rotation{Hash: hash, Now: now, Overlap: time.Hour}
		must(t, a.RotateKey(t.Context(), keyOne, r, byA()))
	}
	wantWorks(t, a, now, "0", secrets[last])
	if after, err := a.LatestChange(t.Context()); err != nil || after != before+1 {
		t.Errorf("%d changes were logged (%v), want 1", after-before, err)
	}
}
