package guild_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

// onlyInvalid fails the test for any other error than a client's.
func onlyInvalid(t *testing.T, in string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("%q: %v is not the client's fault", in, err)
	}
}

func FuzzValidHash(f *testing.F) {
	for _, s := range []string{hash, "a_" + hash, "", "A_" + hash, hash + "\n"} {
		f.Add(s)
	}
	pattern := regexp.MustCompile(`\A(a_)?[a-z0-9]{32}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		if valid := guild.ValidHash(s); valid != pattern.MatchString(s) {
			t.Fatalf("%q: %v, against the pattern", s, valid)
		}
	})
}

func FuzzParseVanity(f *testing.F) {
	for _, s := range []string{"gophers", "Go", "a", "12345678901234567", "012345678901234567x", "K\u212a"} {
		f.Add(s)
	}
	pattern, digits := regexp.MustCompile(`\A[a-zA-Z0-9]{2,32}\z`), regexp.MustCompile(`\A[0-9]{17,19}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		vanity, err := guild.ParseVanity(s)
		if (err == nil) != (pattern.MatchString(s) && !digits.MatchString(s)) {
			t.Fatalf("%q: %q, %v, against the pattern", s, vanity, err)
		}
		if err != nil {
			return
		}
		if again, err := guild.ParseVanity(string(vanity)); err != nil || again != vanity || !strings.EqualFold(string(vanity), s) {
			t.Fatalf("%q became %q, which becomes %q, %v", s, vanity, again, err)
		}
		if g, entry, err := guild.ParseEntry(s); err != nil || g != "" || entry != string(vanity) {
			t.Fatalf("%q is the vanity %q, but its board is found by %q, %q, %v", s, vanity, g, entry, err)
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	for _, s := range []string{"100000000000000000", "gophers", "A", "", "a/b", "012345678901234567"} {
		f.Add(s)
	}
	snowflake, pattern := regexp.MustCompile(`\A[1-9][0-9]{16,18}\z`), regexp.MustCompile(`\A[a-zA-Z0-9]+\z`)
	f.Fuzz(func(t *testing.T, s string) {
		g, vanity, err := guild.ParseEntry(s)
		switch {
		case err != nil:
			onlyInvalid(t, s, err)
			if pattern.MatchString(s) {
				t.Fatalf("%q was refused: %v", s, err)
			}
		case snowflake.MatchString(s):
			if string(g) != s || vanity != "" {
				t.Fatalf("%q: got %q, %q", s, g, vanity)
			}
		default:
			if g != "" || vanity != strings.ToLower(s) || !pattern.MatchString(s) {
				t.Fatalf("%q: got %q, %q", s, g, vanity)
			}
		}
	})
}

func FuzzCurve(f *testing.F) {
	for _, s := range []string{
		`"default"`, `"mee6"`, `"x"`, `[150,-100,50]`, `[0,0.1]`, `[-0,1e0]`, `[0,75.83333333333333,22.5,1.6666666666666667]`, `[]`, `[1e308,1]`, `null`, `{"a":1}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, curve string) {
		s, err := guild.Parse(gid, []byte(with(`"curve":`+curve)))
		if err != nil {
			onlyInvalid(t, curve, err)
			return
		}
		for n := range s.Curve.LevelAt(1 << 20) {
			if s.Curve.XPFor(n+1) <= s.Curve.XPFor(n) {
				t.Fatalf("%s was accepted but does not rise at level %d", curve, n+1)
			}
		}
		roundTrip(t, s)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		full, with(""), multiplier(`"targets":[` + channel + `]`), reward(`"roles":[` + role + `]`), with(`"vanity":"Gophers"`), with(`"curve":"amari"`),
		with(`"roleRewards":[{"level":9,"roles":[]},{"level":3,"stack":false,"roles":[]}]`),
		with(`"timeZone":"Asia/Beirut","periods":["week","day"]`), with(`"timeZone":"Local"`), season(`"start":"2026-12-01","end":"2026-12-02"`),
		season(`"start":"2026-12-01","end":"9999-12-31"`), `{}`, `null`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := guild.Parse(gid, document)
		if err != nil {
			if !fault.Is(err, fault.TooLarge) {
				onlyInvalid(t, string(document), err)
			}
			return
		}
		if !json.Valid(document) || s.ID != gid || s.MemberCount < 1 || s.XPPerMessageMin > s.XPPerMessageMax || s.XPGainInterval < 10000 {
			t.Fatalf("%s was accepted as %+v", document, s)
		}
		roundTrip(t, s)
	})
}
