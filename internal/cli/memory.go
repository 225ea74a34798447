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

// settleMemory is called when the service has started: what only the start needed is given back to the system. The ballast that
// it returns counts as in use as long as it is kept, and takes no memory of the system, because nobody ever writes to it. There
// is none when GOGC in the environment says when to collect.
func settleMemory() (ballast []byte) {
	debug.FreeOSMemory()
	forgetCode()
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return make([]byte, ballastSize)
}
