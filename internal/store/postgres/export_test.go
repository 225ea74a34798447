package postgres

import (
	"testing"
	"time"
)

// Hasty bounds every operation by this time until the test ends.
func Hasty(t *testing.T, within time.Duration) {
	before := operationTime
	operationTime = within
	t.Cleanup(func() { operationTime = before })
}
