package storeurl_test

import (
	"slices"
	"testing"

	"levelboard/internal/platform/storeurl"
)

func TestSplitReadsURLsWithSeveralHosts(t *testing.T) {
	for _, c := range []struct {
		raw, first string
		hosts      []string
	}{
		{"redis://h", "redis://h", []string{"h"}},
		{"redis://ada:p%40s@h1:1,h2/0?pool_size=9", "redis://ada:p%40s@h1:1/0?pool_size=9", []string{"h1:1", "h2"}},
		{"rediss://[::1]:3,h2?db=1", "rediss://[::1]:3?db=1", []string{"[::1]:3", "h2"}},
		{"redis://u:a@b@h1,h2", "redis://u:a@b@h1", []string{"h1", "h2"}}, // the last @ ends the password
		{"redis:///0", "redis:///0", []string{""}},
		{"redis://h1,,h2#x", "redis://h1#x", []string{"h1", "", "h2"}},
	} {
		u, ok := storeurl.Split(c.raw)
		if !ok || u.First() != c.first || !slices.Equal(u.Hosts, c.hosts) {
			t.Errorf("%s is split into %q and %q (%t), want %q and %q", c.raw, u.First(), u.Hosts, ok, c.first, c.hosts)
		}
	}
	if _, ok := storeurl.Split("h1:6379,h2:6379"); ok {
		t.Error("a URL without a scheme was split")
	}
}

func TestAddressesAddTheDefaultPort(t *testing.T) {
	for raw, want := range map[string][]string{
		"redis://ada:p@h1:1,h2,[::1],[::1]:3/0": {"h1:1", "h2:6379", "[::1]:6379", "[::1]:3"},
		"redis:///0":                            {":6379"},
		"redis://:7":                            {":7"},
	} {
		if u, _ := storeurl.Split(raw); !slices.Equal(u.Addresses("6379"), want) {
			t.Errorf("the addresses of %s are %q, want %q", raw, u.Addresses("6379"), want)
		}
	}
}
