package app

import (
	"testing"
	"time"
)

// What another replica changed is in force within a second, though a message about it got lost: replicas look at the log of
// changes by themselves, so often that half of the second is left for the look.
func TestReplicasLookTwiceASecond(t *testing.T) {
	if followInterval > time.Second/2 {
		t.Errorf("replicas look every %v", followInterval)
	}
}
