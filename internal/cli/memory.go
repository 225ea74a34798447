package cli

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much of the heap may be garbage before it is collected, in percent of what is in use. A few megabytes are
// in use here, however many members there are, and at Go's default of 100 they are looked through dozens of times a second under
// load; docs/benchmarks.md has what that costs, and the memory of the service at this value. GOGC in the environment wins.
const gcPercent = 300

// settleMemory is called when the service has started: what only the start needed is given back to the system.
func settleMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
	forgetCode()
}
