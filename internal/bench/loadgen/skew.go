package loadgen

import "math/rand/v2"

// Skew says how often each member is drawn.
type Skew string

const (
	// Uniform draws every member equally often.
	Uniform Skew = "uniform"
	// Zipf draws few members most of the time, as few write most of a community's messages.
	Zipf Skew = "zipf"
)

// Valid reports whether the skew is one of the above.
func (s Skew) Valid() bool { return s == Uniform || s == Zipf }

// drawer returns a source of numbers from 0 to n-1.
func (s Skew) drawer(r *rand.Rand, n int) func() int {
	if s == Zipf && n > 1 {
		zipf := rand.NewZipf(r, 1.07, 20, uint64(n-1))
		return func() int { return int(zipf.Uint64()) }
	}
	return func() int { return r.IntN(n) }
}
