package app_test

import (
	"fmt"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// identityLimit refills by one in six seconds, which is longer than a slow test takes for its requests.
const identityLimit = 10

// narrow are the settings for limitCases.
var narrow = []string{
	"LEVELBOARD_RATE_LIMIT_KEY=120", fmt.Sprintf("LEVELBOARD_RATE_LIMIT_IDENTITY=%d", identityLimit),
	"LEVELBOARD_TRUSTED_PROXIES=127.0.0.1,10.0.0.0/8",
}

func identityOverTwoKeys(t *testing.T, s *service) {
	user := newID()
	_, one := s.mint(object{"ownerId": user})
	_, two := s.mint(object{"ownerId": user})
	path := boardPath(s.guild(nil), 1)
	keys, i := []string{one, two}, 0
	s.untilRefused(identityLimit, func() apitest.Response {
		i++
		return s.quickly(path, keys[i%2])()
	})
	for _, key := range keys {
		got := s.refused(path, key)
		if seen := limitsOf(t, got); seen.limit != identityLimit || seen.remaining != 0 {
			t.Errorf("the refusal's limits are %+v, want 0 of %d left", seen, identityLimit)
		}
	}
	s.Do("GET", path, s.reader(), nil).Want(t, 200)
}

func addressWithBadKey(t *testing.T, s *service) {
	path := boardPath(s.guild(nil), 1)
	for i := range identityLimit {
		got := s.Do("GET", path, fmt.Sprintf("guess%d", i), nil, from("203.0.113.3")).Want(t, 401)
		if seen := limitsOf(t, got); seen.limit != identityLimit {
			t.Fatalf("the limits are %+v, want %d", seen, identityLimit)
		}
		if remaining := limitsOf(t, got).remaining; remaining == 0 {
			break
		}
	}
	testenv.Wait(t, "guessing keys is limited", func() bool {
		return s.Do("GET", path, "guess", nil, from("203.0.113.3")).Status == 429
	})
}

func lastForwardedAddress(t *testing.T, s *service) {
	path := boardPath(s.guild(nil), 1)
	remaining := func(addresses ...string) int {
		return limitsOf(t, s.Do("GET", path, "", nil, from(addresses...)).Want(t, 200)).remaining
	}
	if first, second := remaining("203.0.113.10"), remaining("203.0.113.10"); first != identityLimit-1 || second != identityLimit-2 {
		t.Errorf("%d and %d requests remain, want %d and %d", first, second, identityLimit-1, identityLimit-2)
	}
	// A client can send any text in front of the addresses that the proxies append.
	if got := remaining("198.51.100.7, 203.0.113.10"); got != identityLimit-3 {
		t.Errorf("with a forged address in front %d requests remain, want %d", got, identityLimit-3)
	}
	if got := remaining("203.0.113.10, 10.1.2.3"); got != identityLimit-4 {
		t.Errorf("through two trusted proxies %d requests remain, want %d", got, identityLimit-4)
	}
	// All addresses of one /64 share a limit.
	if first, second := remaining("2001:db8:1:2::1"), remaining("2001:db8:1:2:ffff::2"); first != identityLimit-1 || second != identityLimit-2 {
		t.Errorf("in one /64 network %d and %d requests remain, want %d and %d", first, second, identityLimit-1, identityLimit-2)
	}
}

// No client may choose the address that is charged.
func TestForwardedAddressOfAStrangerIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := start(t, append(onDataDir(t), "LEVELBOARD_RATE_LIMIT_IDENTITY=2")...)
	path := boardPath(s.guild(nil), 1)
	for i := range 2 {
		got := s.Do("GET", path, "", nil, from(fmt.Sprintf("203.0.113.%d", i))).Want(t, 200)
		if seen := limitsOf(t, got); seen.remaining != 1-i {
			t.Errorf("request %d has the limits %+v, want %d left", i, seen, 1-i)
		}
	}
	s.Do("GET", path, "", nil, from("203.0.113.99")).Want(t, 429)
}
