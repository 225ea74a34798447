package cli

import (
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestTheMemoryLimitIsTheContainers(t *testing.T) {
	for name, test := range map[string]struct {
		environ   string
		container memlimit.Provider
		want      int64
	}{
		"of the container":   {"", memlimit.Limit(500 << 20), 450 << 20},
		"of the environment": {"123MiB", memlimit.Limit(500 << 20), 123 << 20},
		"no container":       {"", func() (uint64, error) { return 0, memlimit.ErrNoCgroup }, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			// Go reads GOMEMLIMIT at its start, so the test sets the limit directly.
			t.Setenv("GOMEMLIMIT", test.environ)
			before := int64(math.MaxInt64)
			if test.environ == "" {
				os.Unsetenv("GOMEMLIMIT") // Setenv restores it
			} else {
				before = test.want
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(before))
			limitMemory(test.container)
			if got := debug.SetMemoryLimit(-1); got != test.want {
				t.Errorf("the memory limit is %d, want %d", got, test.want)
			}
		})
	}
}
