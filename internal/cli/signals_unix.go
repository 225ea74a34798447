//go:build unix

package cli

import (
	"os"
	"syscall"
)

// woken is the signal that timeout(1) sends after the one that stops.
var woken = []os.Signal{syscall.SIGCONT}
