package apikey_test

import (
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
)

func TestOldUntilIsTheEndOfTheLastOverlap(t *testing.T) {
	soon, later, past := noon.Add(time.Hour), noon.Add(2*time.Hour), noon.Add(-time.Hour)
	rotated := apikey.Owned{Key: apikey.Key{Old: []apikey.OldSecret{{Until: past}, {Until: later}, {Until: soon}}}}
	if until := rotated.OldUntil(noon); until == nil || !until.Equal(later) {
		t.Errorf("the last overlap ends at %v, want %v", until, later)
	}
	if until := rotated.OldUntil(later); until != nil {
		t.Errorf("after the last overlap OldUntil is %v, want nil", until)
	}
}
