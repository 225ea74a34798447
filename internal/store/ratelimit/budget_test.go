package ratelimit_test

import (
	"net/netip"
	"testing"

	"levelboard/internal/store/ratelimit"
)

func TestIPv6AddressesShareABudgetByNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":  "2001:db8:1:2::/64",
		"2001:db8:1:3::":       "2001:db8:1:3::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::1":                  "::/64",
	} {
		if got := ratelimit.AddressName(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is charged as %s, want %s", address, got, want)
		}
	}
}

func TestIdentitiesAreUsersOrAddresses(t *testing.T) {
	for _, c := range []struct {
		user, address string
		want          ratelimit.Budget
	}{
		{"100000000000000001", "192.0.2.7", ratelimit.Budget{Scope: ratelimit.ScopeIdentity, Name: "100000000000000001", PerMinute: 9}},
		{"", "2001:db8:1:2:3:4:5:6", ratelimit.Budget{Scope: ratelimit.ScopeAddress, Name: "2001:db8:1:2::/64", PerMinute: 9}},
		{"", "@", ratelimit.Budget{Scope: ratelimit.ScopeAddress, Name: "unknown", PerMinute: 9}}, // a Unix socket
	} {
		if got := ratelimit.OfIdentity(c.user, c.address, 9); got != c.want {
			t.Errorf("user %q at %q is charged as %+v, want %+v", c.user, c.address, got, c.want)
		}
	}
}
