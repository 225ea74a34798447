package cli

import (
	"os"
	"runtime/debug"
)

// ballastSize is how much garbage there may be, in bytes, beside as much as is in use, before it is collected. A few megabytes are in
// use here, however many members there are, and with Go's default alone they are looked through dozens of times a second
// under load. A share would do as well for those few, but takes three times as much of the machine where much is in use for once.
// docs/benchmarks.md has what it costs, and the memory of the service with it.
const ballastSize = 16 << 20

// ballast counts as in use for the collector. Nobody writes to it, so the system never gives it any memory.
var ballast []byte

// settleMemory is called when the service has started: what only the start needed is given back to the system. GOGC in the
// environment wins.
func settleMemory() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		ballast = make([]byte, ballastSize)
	}
	forgetCode()
}
