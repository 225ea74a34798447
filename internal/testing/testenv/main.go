package testenv

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, stops their shared servers, fails the run if
// goroutines are left, and exits the process. Call it from TestMain:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
// Options name goroutines that are expected to remain.
func Main(m *testing.M, ignore ...goleak.Option) {
	code := m.Run()
	for _, f := range atExit {
		f()
	}
	shared.stop()
	idle.stop()
	// A failed test may have left anything, and its own message matters more.
	if code == 0 {
		if err := leaks(ignore); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines left after the tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

var atExit []func()

// AtExit makes Main call f after all tests. Call it before Main.
func AtExit(f func()) { atExit = append(atExit, f) }

// leaks waits for goroutines that are about to end. A go-redis pool that tries
// to reach a stopped server does so once a second, and only then notices that
// it was closed.
func leaks(ignore []goleak.Option) (err error) {
	ignore = append(ignore, goleak.IgnoreTopFunction("levelboard/internal/testing/testenv.countAwake"))
	Poll(Patience, func() bool {
		err = goleak.Find(ignore...)
		return err == nil
	})
	return err
}

// Long skips a test under -short, which make test sets and make ci does not. Use
// it for tests that take long or need more programs than Redis and Postgres.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a long test: make ci runs it")
	}
}
