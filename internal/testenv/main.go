package testenv

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, stops the servers that they shared, fails the
// run if goroutines are left, and exits the process. Call it from TestMain:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
// Options name goroutines that are expected to remain.
func Main(m *testing.M, ignore ...goleak.Option) {
	code := m.Run()
	shared.stop()
	if err := commonBrowser.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "the browser of the tests: %v\n", err)
		code = max(code, 1)
	}
	// A failed test may have left anything behind; its own message matters more.
	if code == 0 {
		if err := goleak.Find(ignore...); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines left after the tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}
