package loadgen

import "strconv"

// MaxBatch is the most messages that one call may bring.
const MaxBatch = 1000

// Batch is how many messages a call brings: a number from 1 to MaxBatch, or Mixed.
type Batch string

// Mixed draws a size from 1 to MaxBatch for each call, larger ones when the community is busy.
const Mixed Batch = "mixed"

// Valid reports whether the batch is one of the above.
func (b Batch) Valid() bool { return b == Mixed || b.size() > 0 }

// size is the number of messages, 0 when it is not always the same.
func (b Batch) size() int {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 1 || n > MaxBatch || strconv.Itoa(n) != string(b) {
		return 0
	}
	return n
}
