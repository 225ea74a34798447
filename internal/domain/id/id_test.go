package id_test

import (
	"errors"
	"regexp"
	"testing"

	"levelboard/internal/domain/id"
)

func TestParseAcceptsSnowflakes(t *testing.T) {
	for _, s := range []string{"10000000000000000", "123456789012345678", "9999999999999999999"} {
		if got, err := id.Parse[id.User](s); err != nil || string(got) != s {
			t.Errorf("the id %s is read as %q (%v)", s, got, err)
		}
	}
	for _, s := range []string{
		"", "1", "1000000000000000", "10000000000000000000", "01000000000000000", "+1000000000000000", "-10000000000000000", "1000000000000000a",
		" 10000000000000000", "10000000000000000\n", "1000000000000000.0", "1e0000000000000000", "１００００００００００００００００", "0x1000000000000000",
	} {
		if got, err := id.Parse[id.Guild](s); !errors.Is(err, id.ErrSnowflake) || got != "" {
			t.Errorf("%q is read as %q (%v), want ErrSnowflake", s, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"10000000000000000", "9999999999999999999", "01000000000000000", "", "1000000000000000\x00"} {
		f.Add(s)
	}
	pattern := regexp.MustCompile(`\A[1-9][0-9]{16,18}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := id.Parse[id.Role](s)
		if (err == nil) != pattern.MatchString(s) || id.Valid(s) != (err == nil) {
			t.Fatalf("%q gives %v, which differs from the pattern or from Valid", s, err)
		}
		if err == nil && string(got) != s {
			t.Fatalf("the id %q is read as %q", s, got)
		}
	})
}
