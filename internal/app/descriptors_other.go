//go:build !unix

package app

import "math"

// descriptorLimit is how many files the process may have open: elsewhere there is no such limit.
func descriptorLimit() int { return math.MaxInt32 }
