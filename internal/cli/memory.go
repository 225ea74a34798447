package cli

import "github.com/KimMachineGun/automemlimit/memlimit"

// limitMemory sets Go's memory limit to 90% of the container's, unless GOMEMLIMIT says what it is. Without a container there is no limit.
func limitMemory(container memlimit.Provider) {
	_, _ = memlimit.Set(memlimit.WithProvider(container)) // an error leaves the limit as it was: none
}
