//go:build !unix

package app

import "math"

// descriptorLimit returns how many files the process may have open. Systems other than Unix have no such limit.
func descriptorLimit() int { return math.MaxInt32 }
