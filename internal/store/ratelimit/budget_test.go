package ratelimit_test

import (
	"net/netip"
	"testing"

	"levelboard/internal/store/ratelimit"
)

func TestAddressName(t *testing.T) {
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
