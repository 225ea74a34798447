package apikey_test

import (
	"net/http"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

func TestOnlyTheWholeSecretMatches(t *testing.T) {
	secret, _, hash := mint(t)
	other, _, _ := mint(t)
	k := &apikey.Key{Hash: hash}
	if !k.Matches(secret, noon) {
		t.Error("a key does not match its own secret")
	}
	for name, s := range map[string]string{"nothing": "", "another key": other, "a part": secret[:52], "more": secret + "a"} {
		if k.Matches(s, noon) {
			t.Errorf("the key matches %s", name)
		}
	}
	if (&apikey.Key{}).Matches("", noon) {
		t.Error("a key without a hash matches the empty text")
	}
}

func TestAnOldSecretMatchesUntilItsOverlapEnds(t *testing.T) {
	first, keyID, before := mint(t)
	second, hash := apikey.Mint(keyID)
	if parsed, err := apikey.Parse(second); err != nil || parsed != keyID || second == first {
		t.Errorf("the new secret is of the key %q (%v), want another secret of %q", parsed, err, keyID)
	}
	k := &apikey.Key{Hash: hash, Old: []apikey.OldSecret{{Hash: before, Until: noon}}}
	for _, c := range []struct {
		secret string
		now    time.Time
		want   bool
	}{
		{first, noon.Add(-time.Millisecond), true},
		{first, noon, false},
		{second, noon, true},
		{second, noon.Add(-time.Millisecond), true},
		{first[:52] + "!", noon.Add(-time.Millisecond), false},
	} {
		if k.Matches(c.secret, c.now) != c.want {
			t.Errorf("%v before the end of the overlap Matches is %t, want %t", noon.Sub(c.now), !c.want, c.want)
		}
	}
}

func TestAKeyExpiresAtItsInstant(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	k := &apikey.Key{ExpiresAt: &at}
	for _, c := range []struct {
		now  time.Time
		want bool
	}{{at.Add(-1), false}, {at, true}, {at.Add(1), true}, {at.In(time.FixedZone("", 3600)), true}} {
		if k.Expired(c.now) != c.want {
			t.Errorf("at %v Expired is %t, want %t", c.now, !c.want, c.want)
		}
	}
	if (&apikey.Key{}).Expired(at) {
		t.Error("a key without an expiry has expired")
	}
}

func TestPermissionsAllowMethods(t *testing.T) {
	reads := []string{http.MethodGet, http.MethodHead}
	changes := []string{http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, "get", ""}
	for _, c := range []struct {
		permission   apikey.Permission
		read, change bool
	}{{apikey.Read, true, false}, {apikey.ReadWrite, true, true}, {"", false, false}, {"owner", false, false}} {
		k := &apikey.Key{Permission: c.permission}
		for _, m := range reads {
			if k.May(m) != c.read {
				t.Errorf("a key with %q may %s: %t, want %t", c.permission, m, !c.read, c.read)
			}
		}
		for _, m := range changes {
			if k.May(m) != c.change {
				t.Errorf("a key with %q may %q: %t, want %t", c.permission, m, !c.change, c.change)
			}
		}
	}
	for _, p := range []apikey.Permission{apikey.Read, apikey.ReadWrite} {
		if got, err := apikey.ParsePermission(string(p)); err != nil || got != p {
			t.Errorf("the permission %q is read as %q (%v)", p, got, err)
		}
	}
	for _, name := range []string{"", "READ", "write", "read-write", "read "} {
		if _, err := apikey.ParsePermission(name); err == nil {
			t.Errorf("%q is accepted as a permission", name)
		}
	}
}

func TestGrantsGiveAccess(t *testing.T) {
	k := &apikey.Key{GuildIDs: []id.Guild{"100000000000000001", "100000000000000003", "99999999999999999"}}
	for _, g := range k.GuildIDs {
		if !k.Granted(g) {
			t.Errorf("the key has no access to the granted guild %s", g)
		}
	}
	for _, g := range []id.Guild{"", "100000000000000002", "1000000000000000010", "99999999999999998"} {
		if k.Granted(g) {
			t.Errorf("the key has access to %q without a grant", g)
		}
	}
	if (&apikey.Key{}).Granted("100000000000000001") {
		t.Error("a key without grants has access")
	}
}
