//go:build !unix

package cli

import "os"

// woken is empty where there is no SIGCONT, and no timeout(1) that sends it.
var woken []os.Signal
