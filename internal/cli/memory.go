package cli

import (
	"os"
	"runtime/debug"
)

// How much garbage there may be before it is collected: garbageShare percent of what is in use and of ballastSize, in bytes, together.
// A few megabytes are in use here, however many members there are, and with Go's default alone they are looked through dozens of times
// a second under load. A larger share would do as well for those few, but takes far more of the machine where much is in use for
// once. docs/benchmarks.md has what it costs, and the memory of the service with it.
const (
	garbageShare = 60
	ballastSize  = 30 << 20
)

// settleMemory is called when the service has started: what only the start needed is given back to the system. The ballast that
// it returns counts as in use as long as it is kept, and takes no memory of the system, because nobody ever writes to it. There
// is none when GOGC in the environment says when to collect.
func settleMemory() (ballast []byte) {
	debug.FreeOSMemory()
	forgetCode()
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(garbageShare)
	return newBallast()
}

// newBallast is zero and takes no memory of the system. Where something else was before, Go has to write the zeros.
func newBallast() []byte {
	ballast := make([]byte, ballastSize)
	forgetZeros(ballast)
	return ballast
}
