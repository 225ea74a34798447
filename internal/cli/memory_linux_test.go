package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident is how many KB of files are in the process.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no RssFile in %s", status)
	}
	kb, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// The test is itself the program whose code goes, and it goes on.
func TestForgottenCodeComesBack(t *testing.T) {
	before := resident(t)
	forgetCode()
	if after := resident(t); after >= before {
		t.Errorf("%d KB of files are resident afterwards, %d before", after, before)
	}
}

// Something else was where the ballast is, and Go did not give that back to the system: it fills the ballast with zeros.
func TestTheBallastTakesNoMemory(t *testing.T) {
	// In a process of its own, whose garbage nothing else counts on.
	if os.Getenv("BALLAST_TEST") == "" {
		fresh := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		fresh.Env = append(os.Environ(), "BALLAST_TEST=1", "GOGC=")
		if said, err := fresh.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	used := bytes.Repeat([]byte{1}, 2*ballastSize)
	runtime.KeepAlive(used)
	used = nil
	runtime.GC()
	debug.SetGCPercent(garbageShare)
	ballast := newBallast()
	pages := make([]byte, ballastSize/os.Getpagesize())
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&ballast[0])), ballastSize, uintptr(unsafe.Pointer(&pages[0]))); err != 0 {
		t.Fatal(err)
	}
	if n := bytes.Count(pages, []byte{1}); n > len(pages)/2 {
		t.Errorf("%d of the ballast's %d pages are resident", n, len(pages))
	}
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	if from := goal[0].Value.Uint64(); from < ballastSize*(100+garbageShare)/100 {
		t.Errorf("the heap is collected from %d bytes on, as if there were no ballast", from)
	}
	runtime.KeepAlive(ballast)
}
