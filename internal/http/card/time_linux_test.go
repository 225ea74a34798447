package card

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spent returns the CPU time of this thread, which does not depend on the machine's load.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestAPreviewTakesLittleCPUTime(t *testing.T) {
	most := 50 * time.Millisecond
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		most *= 40 // the race detector makes drawing 20 times slower
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := someBoard(3)
	b.Guild, b.Top[0].GlobalName, b.Top[1].GlobalName = scripts["Devanagari"], scripts["Arabic"], scripts["Han"]
	for name, f := range map[string]*Fonts{"without a folder": nil, "with a folder": systemFonts(t)} {
		least := time.Hour
		for range 10 {
			began := spent(t)
			if _, err := f.Preview(b); err != nil {
				t.Fatal(err)
			}
			if least = min(least, spent(t)-began); least < most {
				break
			}
		}
		if least >= most {
			t.Errorf("%s a preview takes %v of CPU time, want less than %v", name, least, most)
		}
	}
}
