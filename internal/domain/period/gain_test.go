package period_test

import (
	"math"
	"slices"
	"testing"

	"levelboard/internal/domain/period"
)

func TestGainsAreReadAsWritten(t *testing.T) {
	for text, want := range map[string][]period.Gain{
		"":                    nil,
		"20782:350":           {{Day: 20782, Gained: 350}},
		"20782:350,20781:-20": {{Day: 20782, Gained: 350}, {Day: 20781, Gained: -20}},
		"-2147483648:9223372036854775807,2147483647:-9223372036854775808": {
			{Day: math.MinInt32, Gained: math.MaxInt64}, {Day: math.MaxInt32, Gained: math.MinInt64},
		},
	} {
		got, err := period.ParseGains(text)
		if err != nil || !slices.Equal(got, want) || period.FormatGains(got) != text {
			t.Errorf("the gains %q are read as %v (%v), want %v, and written as %q", text, got, err, want, period.FormatGains(got))
		}
	}
}

var notGains = []string{
	",", ":", "1", "1:", ":1", "1:2,", ",1:2", "1:2,,3:4", "1:2:3", "1;2", " 1:2", "1: 2", "1:2\n", "x:1", "1:x", "1.5:2", "1:2e3", "0x1:1", "1_0:1",
	"2147483648:1", "1:9223372036854775808", "1:--1", "0:0,-1:1,2147483647:",
}

func TestInvalidGainsAreRefused(t *testing.T) {
	for _, text := range notGains {
		if gains, err := period.ParseGains(text); err == nil || gains != nil {
			t.Errorf("the invalid gains %q are read as %v (%v), want an error", text, gains, err)
		}
	}
}

func FuzzGains(f *testing.F) {
	for _, text := range append(notGains, "", "20782:350", "20782:350,20781:-20", "-1:0", "+1:+2", "007:1") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		gains, err := period.ParseGains(text)
		if err != nil {
			return
		}
		if again, err := period.ParseGains(period.FormatGains(gains)); err != nil || !slices.Equal(again, gains) {
			t.Fatalf("the gains %q are read as %v, and after writing as %v (%v)", text, gains, again, err)
		}
	})
}
