package guild_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

const hash = "0123456789abcdefghijklmnopqrstuv"

func TestValidHashAcceptsImageHashes(t *testing.T) {
	for _, s := range []string{hash, "a_" + hash, strings.Repeat("a", 32)} {
		if !guild.ValidHash(s) {
			t.Errorf("the hash %s is refused", s)
		}
	}
	for _, s := range []string{
		"", "a_", hash[1:], hash + "0", "a" + hash, "_" + hash, "a_" + hash[1:], "a_" + hash + "0", "A_" + hash, "b_" + hash, "a_a_" + hash[2:],
		strings.ToUpper(hash), hash[1:] + "_", hash[1:] + "é", hash[2:] + "é", hash + "\n", " " + hash[1:],
	} {
		if guild.ValidHash(s) {
			t.Errorf("%q is accepted as a hash", s)
		}
	}
}

func TestParseVanityLowersAndChecks(t *testing.T) {
	for in, want := range map[string]string{
		"ab": "ab", "Go": "go", "42": "42", strings.Repeat("Z", 32): strings.Repeat("z", 32), "1234567890123456": "1234567890123456",
		"12345678901234567890": "12345678901234567890", "1234567890123456x": "1234567890123456x",
	} {
		if got, err := guild.ParseVanity(in); err != nil || string(got) != want {
			t.Errorf("the vanity %s is read as %q (%v), want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "a", strings.Repeat("a", 33), "a b", "a-b", "a_b", "gö", "ＧＯ", "K\u212a", "ab\x00", "12345678901234567", "012345678901234567", "1234567890123456789",
	} {
		if got, err := guild.ParseVanity(in); err == nil {
			t.Errorf("the invalid vanity %q is read as %q", in, got)
		}
	}
}

func TestParseEntryReadsIDsAndVanities(t *testing.T) {
	for in, want := range map[string]struct {
		gid    id.Guild
		vanity string
	}{
		"100000000000000000":    {gid: "100000000000000000"},
		"9999999999999999999":   {gid: "9999999999999999999"},
		"Gophers":               {vanity: "gophers"},
		"1":                     {vanity: "1"},
		"a":                     {vanity: "a"},
		"012345678901234567":    {vanity: "012345678901234567"},
		"1234567890123456":      {vanity: "1234567890123456"},
		"12345678901234567890":  {vanity: "12345678901234567890"},
		strings.Repeat("X", 99): {vanity: strings.Repeat("x", 99)},
	} {
		if gid, vanity, err := guild.ParseEntry(in); err != nil || gid != want.gid || vanity != want.vanity {
			t.Errorf("the entry %s is read as %q, %q (%v), want %+v", in, gid, vanity, err, want)
		}
	}
	for _, in := range []string{"", "a/b", "a b", "a-b", "gö", "a\x00", "100000000000000000 ", "%61", "*", "a_b"} {
		if gid, vanity, err := guild.ParseEntry(in); !fault.Is(err, fault.Invalid) {
			t.Errorf("the invalid entry %q is read as %q, %q (%v)", in, gid, vanity, err)
		}
	}
}
