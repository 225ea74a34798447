package cli

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
)

// resident is how many KB of a kind (RssFile, RssAnon) are in the process.
func resident(t *testing.T, kind string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(kind + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no %s in %s", kind, status)
	}
	kb, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// The test is itself the program whose code goes, and it goes on.
func TestForgottenCodeComesBack(t *testing.T) {
	before := resident(t, "RssFile")
	forgetCode()
	if after := resident(t, "RssFile"); after >= before {
		t.Errorf("%d KB of files are resident afterwards, %d before", after, before)
	}
}

func TestTheBallastTakesNoMemory(t *testing.T) {
	// In a process that has just started, as where it is used: what another test had in use before would be written to again.
	if os.Getenv("BALLAST_TEST") == "" {
		fresh := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		fresh.Env = append(os.Environ(), "BALLAST_TEST=1", "GOGC=")
		if said, err := fresh.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	debug.FreeOSMemory()
	before := resident(t, "RssAnon")
	ballast := settleMemory()
	if after := resident(t, "RssAnon"); after-before > ballastSize>>10/2 {
		t.Errorf("%d KB are resident with a ballast of %d, %d before", after, ballastSize>>10, before)
	}
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	if bytes := goal[0].Value.Uint64(); bytes < ballastSize*(100+garbageShare)/100 {
		t.Errorf("the heap is collected from %d bytes on, as if there were no ballast", bytes)
	}
	runtime.KeepAlive(ballast)
}
